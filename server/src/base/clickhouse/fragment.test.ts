import { expect, test } from "vitest";

import { all, any, bind, ch, join, raw, render } from "./fragment.ts";

test("binds values as parameters instead of text, and equal values share a name", () => {
  const mine = ch`tenant_id = ${bind("UUID", "t")}`;
  const statement = ch`select ${raw("id")} from runs where ${all([mine, ch`name = ${bind("String", "'; drop")}`, mine])}`;
  expect(render(statement)).toEqual({
    query: "select id from runs where (tenant_id = {p0:UUID} and name = {p1:String} and tenant_id = {p0:UUID})",
    params: { p0: "t", p1: "'; drop" },
  });
});

test("binds the same value with two types as two parameters", () => {
  expect(render(ch`${bind("String", "1")}, ${bind("UInt8", "1")}`).query).toBe("{p0:String}, {p1:UInt8}");
});

test("an empty combination is true for all and false for any", () => {
  expect(render(ch`${all([])} ${any([])} ${join([], ", ")}`).query).toBe("true false ");
  expect(render(join([raw("a"), raw("b"), raw("c")], ", ")).query).toBe("a, b, c");
});
