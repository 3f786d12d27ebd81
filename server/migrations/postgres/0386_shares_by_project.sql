-- A share shows the runs of a trace in one project, so that each project with runs of a trace has its own.
alter table trace_shares
  drop constraint trace_shares_tenant_id_trace_id_key,
  add unique (tenant_id, trace_id, project_id);
