{{- define "heddle.name" -}}
{{- printf "%s-%s" .root.Release.Name .role | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "heddle.selector" -}}
app.kubernetes.io/name: heddle
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{- define "heddle.labels" -}}
{{ include "heddle.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "heddle.image" -}}
{{- $image := .root.Values.image -}}
{{- if eq .role "agent" -}}
{{- $image = .root.Values.agent.image -}}
{{- $_ := required "agent.image.repository is required: the image of a project, with the heddle command." $image.repository -}}
{{- end -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* URL of a role within the cluster, also for pods of deployments, which run in another namespace */}}
{{- define "heddle.url" -}}
http://{{ include "heddle.name" . }}.{{ .root.Release.Namespace }}.svc:{{ (index .root.Values .role).service.port }}
{{- end -}}

{{/* Namespace of the deployments of the control plane, which is never that of the release */}}
{{- define "heddle.deploymentsNamespace" -}}
{{- $namespace := .Values.control.kubernetesDriver.namespace | default (printf "%s-agents" .Release.Namespace) -}}
{{- if eq $namespace .Release.Namespace -}}
{{- fail "control.kubernetesDriver.namespace must not be the release's namespace: deployments run in one of their own." -}}
{{- end -}}
{{ $namespace }}
{{- end -}}

{{/* Namespaces of the deployments of the listener, as JSON; never that of the release */}}
{{- define "heddle.listenerNamespaces" -}}
{{- $namespaces := .Values.listener.namespaces | default (list (printf "%s-remote" .Release.Namespace)) -}}
{{- if has .Release.Namespace $namespaces -}}
{{- fail "listener.namespaces must not contain the release's namespace: deployments run in namespaces of their own." -}}
{{- end -}}
{{ toJson $namespaces }}
{{- end -}}

{{/* Public URL of a role: the URL of its ingress, if the ingress is enabled */}}
{{- define "heddle.publicUrl" -}}
{{- $ingress := (index .root.Values .role).ingress -}}
{{- if $ingress.enabled -}}
{{ ternary "https" "http" (ne $ingress.tlsSecret "") }}://{{ required (printf "%s.ingress.host is required while %s.ingress.enabled is true." .role .role) $ingress.host }}
{{- end -}}
{{- end -}}

{{- define "heddle.secretEnv" -}}
{{- if .source.existingSecret }}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .source.existingSecret }}
      key: {{ .key | default .source.key }}
{{- end }}
{{- end -}}
