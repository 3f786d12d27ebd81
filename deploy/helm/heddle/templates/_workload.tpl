{{/* Deployment, Service, ServiceAccount and PodDisruptionBudget of a role. Context: root, role */}}
{{- define "heddle.workload" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $roleName := .role -}}
{{- $role := index $values .role -}}
{{- $isListener := eq .role "listener" -}}
{{- $builds := dict -}}
{{- if and (eq .role "control") $role.kubernetesDriver.enabled $role.kubernetesDriver.builds.registry -}}
{{- $builds = $role.kubernetesDriver.builds -}}
{{- end -}}
{{- $hasApiAccess := or $isListener (and (eq .role "control") $role.kubernetesDriver.enabled) -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "heddle.name" . }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "heddle.labels" . | nindent 4 }}
  {{- with $role.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- if not $isListener }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "heddle.name" . }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "heddle.labels" . | nindent 4 }}
  {{- with $role.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $role.service.type }}
  selector:
    {{- include "heddle.selector" . | nindent 4 }}
  ports:
    - name: http
      port: {{ $role.service.port }}
      targetPort: http
{{- end }}
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "heddle.name" . }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "heddle.labels" . | nindent 4 }}
spec:
  replicas: {{ if $isListener }}1{{ else }}{{ $role.replicas }}{{ end }}
  selector:
    matchLabels:
      {{- include "heddle.selector" . | nindent 6 }}
  strategy:
    {{- if and (eq .role "control") (eq (int ($role.replicas | default 1)) 1) $role.persistence.enabled (ne $role.persistence.accessMode "ReadWriteMany") }}
    # only one node can mount the volume, and only one process can use the data directory
    type: Recreate
    {{- else if $isListener }}
    type: Recreate
    {{- else }}
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
      maxSurge: 1
    {{- end }}
  template:
    metadata:
      labels:
        {{- include "heddle.labels" . | nindent 8 }}
        {{- with $role.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $role.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "heddle.name" . }}
      automountServiceAccountToken: {{ $hasApiAccess }}
      enableServiceLinks: false
      {{- with $values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        {{- toYaml $values.podSecurityContext | nindent 8 }}
      terminationGracePeriodSeconds: {{ $role.terminationGracePeriodSeconds }}
      containers:
        - name: {{ .role }}
          image: {{ include "heddle.image" . }}
          imagePullPolicy: {{ $values.image.pullPolicy }}
          command: [heddle]
          {{- if $isListener }}
          args: [listener]
          {{- else }}
          args:
            - serve
            - --role
            - {{ .role }}
            - --{{ if ne .role "agent" }}{{ .role }}-{{ end }}port
            - {{ $role.service.port | quote }}
            {{- if eq .role "agent" }}
            - --config
            - {{ $role.config | quote }}
            {{- end }}
          {{- end }}
          env:
            {{- include "heddle.environment" . | trim | nindent 12 }}
          {{- if not $isListener }}
          ports:
            - name: http
              containerPort: {{ $role.service.port }}
          startupProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 2
            timeoutSeconds: 5
            failureThreshold: 150
          livenessProbe:
            httpGet: { path: /livez, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 3
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 2
            timeoutSeconds: 5
            failureThreshold: 2
          {{- end }}
          resources:
            {{- toYaml $role.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: [ALL]
          volumeMounts:
            - name: tmp
              mountPath: /tmp
            - name: data
              mountPath: /var/lib/heddle
            {{- if $builds.existingSecret }}
            - name: registry
              mountPath: /etc/heddle/registry
              readOnly: true
            {{- end }}
      volumes:
        - name: tmp
          emptyDir:
            sizeLimit: {{ $role.tmpSizeLimit }}
        - name: data
          {{- if and (eq .role "control") $role.persistence.enabled }}
          persistentVolumeClaim:
            claimName: {{ $role.persistence.existingClaim | default (include "heddle.name" .) }}
          {{- else }}
          emptyDir:
            sizeLimit: {{ $role.tmpSizeLimit }}
          {{- end }}
        {{- if $builds.existingSecret }}
        - name: registry
          secret:
            secretName: {{ $builds.existingSecret }}
            items:
              - key: {{ $builds.key }}
                path: config.json
        {{- end }}
      {{- with $role.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $role.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      affinity:
        {{- if $role.affinity }}
        {{- toYaml $role.affinity | nindent 8 }}
        {{- else }}
        # spread over nodes where possible
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels:
                    {{- include "heddle.selector" . | nindent 20 }}
        {{- end }}
{{- if and (not $isListener) $role.pdb.enabled (gt (int $role.replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "heddle.name" . }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "heddle.labels" . | nindent 4 }}
spec:
  maxUnavailable: {{ $role.pdb.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "heddle.selector" . | nindent 6 }}
{{- end }}
{{- if $values.networkPolicy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "heddle.name" . }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "heddle.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "heddle.selector" . | nindent 6 }}
  policyTypes: [Ingress]
  {{- if $isListener }}
  ingress: []
  {{- else }}
  ingress:
    - ports:
        - port: http
      {{- with $values.networkPolicy.from }}
      from:
        # the other roles, the pods of deployments, and the sources in the values
        - podSelector:
            matchLabels:
              app.kubernetes.io/name: heddle
              app.kubernetes.io/instance: {{ $root.Release.Name }}
        {{- if and (has $roleName (list "control" "trace")) $values.control.enabled $values.control.kubernetesDriver.enabled }}
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: {{ include "heddle.deploymentsNamespace" $root }}
          podSelector:
            matchExpressions:
              - { key: heddle.deployment, operator: Exists }
        {{- end }}
        {{- toYaml . | nindent 8 }}
      {{- end }}
  {{- end }}
{{- end }}
{{- end -}}
