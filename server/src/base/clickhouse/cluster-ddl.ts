/**
 * Adapts migrations, which are written for one server. On a cluster each table becomes a replicated one on every shard,
 * named `x_local`, and a Distributed one named `x` in front of it:
 *
 *     -- shard by: cityHash64(trace_id)
 *     create table runs (...) engine = CoalescingMergeTree order by ... settings ...
 *
 * `alter table x ...` applies to both; changes to local tables alone (indexes, settings, order) are marked:
 *
 *     -- local only
 *     alter table runs add index ...
 */
export function forCluster(statement: string, cluster: string): string[] {
  if (cluster === "") return [statement];
  const onCluster = `on cluster \`${cluster.replaceAll("`", "")}\``;
  const create = /^create table (?:if not exists )?(\w+)/im.exec(statement);
  if (create) return createTables(statement, create[1]!, cluster, onCluster);
  const alter = /^alter table (\w+)/im.exec(statement);
  if (!alter) throw new Error(`A migration may only create and alter tables: ${statement.slice(0, 80)}`);
  const onLocal = statement.replace(/^alter table (\w+)/im, `alter table $1_local ${onCluster}`);
  if (/^-- local only$/m.test(statement)) return [onLocal];
  return [onLocal, statement.replace(/^alter table (\w+)/im, `alter table $1 ${onCluster}`)];
}

function createTables(statement: string, table: string, cluster: string, onCluster: string): string[] {
  const key = /^-- shard by: (.+)$/m.exec(statement)?.[1];
  if (!key) throw new Error(`The migration lacks the sharding key of ${table} ("-- shard by: ...")`);
  const local = statement
    .replace(/^create table (?:if not exists )?\w+/im, `create table if not exists ${table}_local ${onCluster}`)
    .replace(/engine = (\w*MergeTree)(?:\(([^)]*)\))?/i, (_, engine: string, options?: string) => {
      const replica = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`;
      return `engine = Replicated${engine}(${replica}${options ? `, ${options}` : ""})`;
    });
  if (local === statement || !/engine = Replicated/.test(local)) {
    throw new Error(`The engine of ${table} has no replicated variant`);
  }
  const distributed =
    `create table if not exists ${table} ${onCluster} as ${table}_local ` +
    `engine = Distributed('${cluster}', currentDatabase(), ${table}_local, ${key})`;
  return [local, distributed];
}
