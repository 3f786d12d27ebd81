/** Settings that apply to all deployments in a cluster. */
export interface ClusterSettings {
  /** Identifies the owner of the objects: a control plane's installation, or a listener. */
  place: string;
  namespace: string;
  /** Namespaces and networks (CIDR) from which pods accept requests. Empty: from everywhere. */
  ingressFrom: readonly string[];
  /** Existing Secret with which nodes pull images that the platform has built; null: none. */
  pullSecret: string | null;
  readOnly: boolean;
  /** 0: the user of the image. */
  runAsUser: number;
  tmpMb: number;
}
