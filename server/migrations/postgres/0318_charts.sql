-- Dashboards (sections, in the API) and their charts. A series is an object of the API: metric, filters, grouping.
create table chart_sections (
  tenant_id uuid not null,
  section_id uuid not null,
  title text not null,
  description text,
  -- place among the dashboards
  index integer not null,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  primary key (tenant_id, section_id)
);
create index chart_sections_by_creation on chart_sections (tenant_id, created_at desc, section_id desc);

create table charts (
  tenant_id uuid not null,
  chart_id uuid not null,
  section_id uuid not null,
  title text not null,
  description text,
  -- place in the dashboard
  index integer not null,
  chart_type text not null check (chart_type in ('line', 'bar')),
  series jsonb not null,
  common_filters jsonb,
  -- how it is shown
  metadata jsonb,
  created_at timestamptz not null default now(),
  modified_at timestamptz not null default now(),
  primary key (tenant_id, chart_id),
  foreign key (tenant_id, section_id) references chart_sections on delete cascade
);
create index charts_by_section on charts (tenant_id, section_id, index, created_at);
