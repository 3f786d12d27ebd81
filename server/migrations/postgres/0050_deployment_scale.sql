-- How many replicas a deployment has for its load, between its revision's min_scale and max_scale; null: min_scale.
alter table deployments add column scale integer;
