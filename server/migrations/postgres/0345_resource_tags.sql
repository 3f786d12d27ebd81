-- Tags of a workspace's resources: keys, their values, and which resource has which value.
create table resource_tag_keys (
  tenant_id uuid not null,
  tag_key_id uuid not null,
  key text not null,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, tag_key_id),
  unique (tenant_id, key)
);

create table resource_tag_values (
  tenant_id uuid not null,
  tag_value_id uuid not null,
  tag_key_id uuid not null,
  value text not null,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (tenant_id, tag_value_id),
  unique (tenant_id, tag_key_id, value),
  foreign key (tenant_id, tag_key_id) references resource_tag_keys on delete cascade
);

create table resource_taggings (
  tenant_id uuid not null,
  tagging_id uuid not null,
  tag_value_id uuid not null,
  resource_type text not null,
  resource_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (tenant_id, tagging_id),
  unique (tenant_id, resource_id, tag_value_id),
  foreign key (tenant_id, tag_value_id) references resource_tag_values on delete cascade
);
create index resource_taggings_by_value on resource_taggings (tenant_id, tag_value_id);
