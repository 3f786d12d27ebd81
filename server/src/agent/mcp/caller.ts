import type { Principal } from "../../base/auth/principal.ts";

export interface Caller {
  principal: Principal;
  headers: Headers;
}
