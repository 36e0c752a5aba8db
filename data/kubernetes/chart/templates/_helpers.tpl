{{/* The name of everything of this release: at most 63 characters, as names of services are. */}}
{{- define "lanescope.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "lanescope.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "lanescope.labels" -}}
{{ include "lanescope.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* IMAGE@DIGEST or IMAGE:TAG, of a dict of image and chart. */}}
{{- define "lanescope.image" -}}
{{- if .image.digest }}{{ .image.image }}@{{ .image.digest }}{{ else }}{{ .image.image }}:{{ .image.tag | default .chart.AppVersion }}{{ end }}
{{- end }}

{{- define "lanescope.secret" -}}
{{- if eq .Values.certificate.from "secret" }}{{ required "certificate.secretName is missing" .Values.certificate.secretName }}{{ else }}{{ include "lanescope.name" . }}-tls{{ end }}
{{- end }}

{{/* What the injector reads. What stands at the top level counts more than what stands in `profile`, which may be empty: people
write both forms. */}}
{{- define "lanescope.settings" -}}
{{- $profile := .Values.profile | default dict }}
{{- $settings := dict "volumes" list "volumeMounts" list }}
{{- range $name := list "devtoolArgs" "injectionMatch" "volumes" "volumeMounts" }}
{{- if hasKey $profile $name }}{{ $_ := set $settings $name (get $profile $name) }}{{ end }}
{{- if hasKey $.Values $name }}{{ $_ := set $settings $name (get $.Values $name) }}{{ end }}
{{- $_ := required (printf "profile.%s is missing" $name) (get $settings $name) }}
{{- end }}
{{- $image := include "lanescope.image" (dict "image" .Values.bundle "chart" .Chart) }}
{{- $_ := set $settings "bundle" (dict "image" $image "pullPolicy" .Values.bundle.pullPolicy "imageVolume" .Values.bundle.imageVolume) }}
{{- toJson $settings }}
{{- end }}
