{{/* Environment of a role: common variables, variables of the role, then `settings` and `extraEnv` of the values */}}
{{- define "heddle.environment" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $role := index $values .role -}}
{{- if ne .role "listener" }}
- name: HEDDLE_HOST
  value: 0.0.0.0
{{- end }}
- name: HEDDLE_DATA_DIR
  value: /var/lib/heddle
- name: HOME
  value: /tmp
- name: HEDDLE_DRAIN_DELAY_SECS
  value: {{ $values.drainDelaySeconds | quote }}
{{- if $values.trustedProxies }}
- name: HEDDLE_TRUSTED_PROXIES
  value: {{ $values.trustedProxies | quote }}
{{- end }}
{{- if not (has .role (list "console" "listener")) }}
{{- $_ := required "postgres.existingSecret is required: the Secret with DATABASE_URI." $values.postgres.existingSecret }}
{{- $_ := required "encryption.existingSecret is required: the Secret with HEDDLE_SECRETS_KEYS." $values.encryption.existingSecret }}
{{- include "heddle.secretEnv" (dict "name" "DATABASE_URI" "source" $values.postgres) }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_SECRETS_KEYS" "source" $values.encryption) }}
{{- include "heddle.secretEnv" (dict "name" "REDIS_URI" "source" $values.redis) }}
{{- end }}
{{- range $name := ternary (list) (list "control" "trace" "console") (eq .role "listener") }}
{{- if and (index $values $name).enabled (index $values $name).ingress.enabled }}
- name: {{ dict "control" "HEDDLE_CONTROL_PUBLIC_URL" "trace" "HEDDLE_TRACE_PUBLIC_URL" "console" "HEDDLE_CONSOLE_URL" | dig $name "" }}
  value: {{ include "heddle.publicUrl" (dict "root" $root "role" $name) }}
{{- end }}
{{- end }}
{{- if eq .role "agent" }}
{{- if $role.ingress.enabled }}
- name: HEDDLE_PUBLIC_URL
  value: {{ include "heddle.publicUrl" . }}
{{- end }}
{{- if and $values.trace.enabled $values.tracing.existingSecret }}
- name: HEDDLE_TRACING_URL
  value: {{ include "heddle.url" (dict "root" $root "role" "trace") }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_TRACING_KEY" "source" $values.tracing) }}
{{- end }}
{{- else if eq .role "control" }}
- name: HEDDLE_CONTROL_INTERNAL_URL
  value: {{ include "heddle.url" . }}
{{- if $values.postgres.deploymentsKey }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_DEPLOYMENT_DATABASE_URI" "source" $values.postgres "key" $values.postgres.deploymentsKey) }}
{{- end }}
{{- if and $values.trace.enabled $values.tracing.existingSecret }}
- name: HEDDLE_CONTROL_TRACE_URL
  value: {{ include "heddle.url" (dict "root" $root "role" "trace") }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_CONTROL_TRACE_KEY" "source" $values.tracing) }}
{{- end }}
{{- if $role.kubernetesDriver.enabled }}
- name: HEDDLE_CONTROL_DRIVER
  value: kubernetes
# every program in the cluster can reach the pods of deployments
- name: HEDDLE_AUTH
  value: required
- name: HEDDLE_KUBERNETES_NAMESPACE
  value: {{ include "heddle.deploymentsNamespace" $root }}
# the namespace of the gateways
- name: HEDDLE_KUBERNETES_INGRESS_FROM
  value: {{ $root.Release.Namespace }}
{{- with $role.kubernetesDriver.builds }}
{{- if .registry }}
- name: HEDDLE_KUBERNETES_REGISTRY
  value: {{ .registry | quote }}
- name: HEDDLE_CONTAINER_ENGINE
  value: {{ required "control.kubernetesDriver.builds.engine is required with a registry: the container engine that builds images." .engine | quote }}
- name: HEDDLE_CONTAINER_BASE_IMAGE
  value: {{ required "control.kubernetesDriver.builds.baseImage is required with a registry: the image that projects are built from." .baseImage | quote }}
{{- if .existingSecret }}
- name: HEDDLE_KUBERNETES_REGISTRY_CONFIG
  value: /etc/heddle/registry/config.json
{{- end }}
{{- if .pullSecret }}
- name: HEDDLE_KUBERNETES_PULL_SECRET
  value: {{ .pullSecret | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- else if eq .role "trace" }}
{{- $_ := required "clickhouse.existingSecret is required by the role trace: the Secret with CLICKHOUSE_URL." $values.clickhouse.existingSecret }}
{{- include "heddle.secretEnv" (dict "name" "CLICKHOUSE_URL" "source" $values.clickhouse) }}
- name: HEDDLE_BLOB_BUCKET
  value: {{ required "bucket.name is required by the role trace: the bucket of attachments." $values.bucket.name | quote }}
- name: HEDDLE_BLOB_PREFIX
  value: {{ $values.bucket.prefix | quote }}
- name: HEDDLE_BLOB_REGION
  value: {{ $values.bucket.region | quote }}
{{- if $values.bucket.endpoint }}
- name: HEDDLE_BLOB_ENDPOINT
  value: {{ $values.bucket.endpoint | quote }}
{{- end }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_BLOB_ACCESS_KEY_ID" "source" $values.bucket "key" $values.bucket.accessKeyIdKey) }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_BLOB_SECRET_ACCESS_KEY" "source" $values.bucket "key" $values.bucket.secretAccessKeyKey) }}
{{- else if eq .role "listener" }}
- name: HEDDLE_CONTROL_URL
  value: {{ required "listener.controlUrl is required: the URL of the control plane." $role.controlUrl }}
- name: HEDDLE_LISTENER_ID
  value: {{ required "listener.id is required: the id from POST /v2/listeners." $role.id }}
- name: HEDDLE_LISTENER_NAMESPACES
  value: {{ join "," (include "heddle.listenerNamespaces" $root | fromJsonArray) }}
{{- $_ := required "listener.existingSecret is required: the Secret with HEDDLE_LISTENER_KEY." $role.existingSecret }}
{{- include "heddle.secretEnv" (dict "name" "HEDDLE_LISTENER_KEY" "source" $role) }}
{{- else if eq .role "console" }}
{{- range $name := list "agent" "trace" "control" }}
{{- if (index $values $name).enabled }}
- name: HEDDLE_CONSOLE_{{ upper $name }}_URL
  value: {{ include "heddle.url" (dict "root" $root "role" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := merge (deepCopy $role.settings) $values.settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end }}
{{- with $role.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
