/** Settings of a cluster for all of its deployments. */
export interface ClusterSettings {
  /** Identifies the owner of the objects: a control plane's installation, or a listener. */
  place: string;
  namespace: string;
  /** Namespaces and networks (CIDR) from which pods accept requests; none: all. */
  ingressFrom: readonly string[];
  readOnly: boolean;
  /** 0: the user of the image. */
  runAsUser: number;
  tmpMb: number;
}
