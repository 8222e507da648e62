package main

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// cluster holds the objects that `kubectl apply -k collector/` would send, in the types of the API. Decoding fails for
// a key that the type does not have.
type cluster struct {
	configMaps map[string]*corev1.ConfigMap
	services   map[string]*corev1.Service
	accounts   map[string]*corev1.ServiceAccount
	agent      *appsv1.DaemonSet
	gateway    *appsv1.StatefulSet
	budget     *policyv1.PodDisruptionBudget
	scaler     *autoscalingv2.HorizontalPodAutoscaler
}

func build(t *testing.T) cluster {
	t.Helper()
	dir, err := filepath.Abs(shippedFile(""))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("kustomize: %v", err)
	}
	text, err := objects.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{
		configMaps: map[string]*corev1.ConfigMap{}, services: map[string]*corev1.Service{},
		accounts: map[string]*corev1.ServiceAccount{},
	}
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		c.add(t, document)
	}
	return c
}

func (c *cluster) add(t *testing.T, document []byte) {
	t.Helper()
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(document, &head); err != nil {
		t.Fatal(err)
	}
	decode := func(into any) {
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Errorf("%s: %v", head.Kind, err)
		}
	}
	switch head.APIVersion + " " + head.Kind {
	case "v1 Namespace":
		decode(&corev1.Namespace{})
	case "v1 ConfigMap":
		m := &corev1.ConfigMap{}
		decode(m)
		c.configMaps[m.Name] = m
	case "v1 Service":
		s := &corev1.Service{}
		decode(s)
		c.services[s.Name] = s
	case "v1 ServiceAccount":
		a := &corev1.ServiceAccount{}
		decode(a)
		c.accounts[a.Name] = a
	case "apps/v1 DaemonSet":
		c.agent = &appsv1.DaemonSet{}
		decode(c.agent)
	case "apps/v1 StatefulSet":
		c.gateway = &appsv1.StatefulSet{}
		decode(c.gateway)
	case "policy/v1 PodDisruptionBudget":
		c.budget = &policyv1.PodDisruptionBudget{}
		decode(c.budget)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		c.scaler = &autoscalingv2.HorizontalPodAutoscaler{}
		decode(c.scaler)
	default:
		t.Errorf("an object that the test does not know: %s %s", head.APIVersion, head.Kind)
	}
}

// pods returns the pods of the two tiers.
func (c *cluster) pods() map[string]corev1.PodTemplateSpec {
	return map[string]corev1.PodTemplateSpec{"agent": c.agent.Spec.Template, "gateway": c.gateway.Spec.Template}
}

// collector returns the container of the pod that runs a Collector.
func collector(t *testing.T, pod corev1.PodTemplateSpec) corev1.Container {
	t.Helper()
	if len(pod.Spec.Containers) != 1 {
		t.Fatalf("the pod has %d containers, want the Collector only", len(pod.Spec.Containers))
	}
	return pod.Spec.Containers[0]
}

// configurations returns the files that the container starts with, by name.
func configurations(t *testing.T, c cluster, pod corev1.PodTemplateSpec) map[string]string {
	t.Helper()
	files := map[string]string{}
	container := collector(t, pod)
	for _, arg := range container.Args {
		path, ok := strings.CutPrefix(arg, "--config=")
		if !ok {
			t.Errorf("an argument that the test does not know: %s", arg)
			continue
		}
		for _, mount := range container.VolumeMounts {
			name, ok := strings.CutPrefix(path, mount.MountPath+"/")
			if !ok {
				continue
			}
			for _, v := range pod.Spec.Volumes {
				if v.Name == mount.Name && v.ConfigMap != nil && c.configMaps[v.ConfigMap.Name] != nil {
					files[name] = c.configMaps[v.ConfigMap.Name].Data[name]
				}
			}
		}
	}
	if len(files) != len(container.Args) {
		t.Errorf("of %v only %v is in a ConfigMap", container.Args, slices.Collect(maps.Keys(files)))
	}
	return files
}

func environment(container corev1.Container) map[string]string {
	env := map[string]string{}
	for _, e := range container.Env {
		env[e.Name] = e.Value
	}
	return env
}

func TestManifestsContainTheShippedFiles(t *testing.T) {
	c := build(t)
	for tier, pod := range c.pods() {
		for name, text := range configurations(t, c, pod) {
			if text != readShipped(t, name) {
				t.Errorf("%s: the ConfigMap's %s is not collector/%s", tier, name, name)
			}
		}
		if image := collector(t, pod).Image; !strings.HasSuffix(image, "-contrib:0.158.0") {
			t.Errorf("%s: the image is %s, want the version that is tested", tier, image)
		}
	}
}

func TestManifestsSetTheVariablesOfTheFiles(t *testing.T) {
	c := build(t)
	for tier, pod := range c.pods() {
		read := map[string]string{}
		for _, text := range configurations(t, c, pod) {
			maps.Copy(read, variables(t, text))
		}
		env := environment(collector(t, pod))
		for name := range env {
			if _, ok := read[name]; !ok && name != "GOMEMLIMIT" {
				t.Errorf("%s: nothing reads %s", tier, name)
			}
		}
		for name, value := range read { // loopback inside a pod is unreachable from outside
			if _, set := env[name]; !set && (strings.HasPrefix(value, "127.") || value == "localhost") {
				t.Errorf("%s: %s should be set, its default is %s", tier, name, value)
			}
		}
	}
}

// TestConfigurationsAreValidAsDeployed validates the files with the environment of the pods.
func TestConfigurationsAreValidAsDeployed(t *testing.T) {
	c := build(t)
	for tier, pod := range c.pods() {
		t.Run(tier, func(t *testing.T) {
			for name, value := range environment(collector(t, pod)) {
				t.Setenv(name, value)
			}
			inQueueDir(t)
			var files []string
			for _, arg := range collector(t, pod).Args {
				files = append(files, shippedFile(filepath.Base(arg)))
			}
			if err := validate(files...); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManifestPortsAndNamesMatch compares the ports and names by which objects refer to each other.
func TestManifestPortsAndNamesMatch(t *testing.T) {
	c := build(t)
	pods := c.pods()
	byLabel := map[string]corev1.PodTemplateSpec{}
	for _, pod := range pods {
		byLabel[pod.Labels["app.kubernetes.io/name"]] = pod
	}
	for name, service := range c.services {
		pod, ok := byLabel[service.Spec.Selector["app.kubernetes.io/name"]]
		if !ok {
			t.Errorf("service %s selects no pod", name)
			continue
		}
		for _, p := range service.Spec.Ports {
			if port(pod, p.TargetPort) == 0 {
				t.Errorf("service %s: no container has the port %s", name, p.TargetPort.String())
			}
		}
	}
	for tier, pod := range pods {
		container := collector(t, pod)
		listens := listening(environment(container))
		for _, p := range container.Ports {
			if !listens[p.ContainerPort] {
				t.Errorf("%s: nothing listens on port %s, %d", tier, p.Name, p.ContainerPort)
			}
			delete(listens, p.ContainerPort)
		}
		if len(listens) > 0 {
			t.Errorf("%s: ports without a name: %v", tier, slices.Collect(maps.Keys(listens)))
		}
		for kind, probe := range map[string]*corev1.Probe{"startup": container.StartupProbe,
			"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
			if probe == nil || probe.HTTPGet == nil {
				t.Errorf("%s has no %s probe", tier, kind)
			} else if got, want := port(pod, probe.HTTPGet.Port), port(pod, intstr.FromString("health")); got != want {
				t.Errorf("%s: the %s probe asks port %d, want %d", tier, kind, got, want)
			}
		}
		if c.accounts[pod.Spec.ServiceAccountName] == nil {
			t.Errorf("%s: no service account %q", tier, pod.Spec.ServiceAccountName)
		}
	}
	if s := c.services[c.gateway.Spec.ServiceName]; s == nil || s.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("the gateways' service %q should be headless", c.gateway.Spec.ServiceName)
	}
	if !maps.Equal(c.budget.Spec.Selector.MatchLabels, c.gateway.Spec.Selector.MatchLabels) {
		t.Error("the disruption budget is not for the gateways")
	}
	if ref := c.scaler.Spec.ScaleTargetRef; ref.Kind != "StatefulSet" || ref.Name != c.gateway.Name {
		t.Errorf("the autoscaler scales %s %s", ref.Kind, ref.Name)
	}
	if *c.scaler.Spec.MinReplicas != *c.gateway.Spec.Replicas {
		t.Errorf("the autoscaler begins with %d gateways, the StatefulSet with %d", *c.scaler.Spec.MinReplicas,
			*c.gateway.Spec.Replicas)
	}
}

// TestAgentsFindTheGateways checks that every address in the agent's settings belongs to a service or to the first
// gateway.
func TestAgentsFindTheGateways(t *testing.T) {
	c := build(t)
	env := environment(collector(t, c.agent.Spec.Template))
	headless := c.services[c.gateway.Spec.ServiceName]
	inCluster := func(host string) string { return host + "." + c.agent.Namespace + ".svc.cluster.local" }
	for name, host := range map[string]string{
		"MCPOTEL_GATEWAY_ENDPOINT":         inCluster("mcpotel-gateway"),
		"MCPOTEL_GATEWAY_DNS":              inCluster(headless.Name),
		"MCPOTEL_GATEWAY_METRICS_ENDPOINT": inCluster(c.gateway.Name + "-0." + headless.Name),
	} {
		address := env[name]
		if name == "MCPOTEL_GATEWAY_DNS" {
			address += ":" + env["MCPOTEL_GATEWAY_DNS_PORT"]
		}
		if want := fmt.Sprintf("%s:%d", host,
			port(c.gateway.Spec.Template, intstr.FromString("otlp-grpc"))); address != want {
			t.Errorf("%s leads to %s, want %s", name, address, want)
		}
	}
	if policy := c.services["mcpotel-agent"].Spec.InternalTrafficPolicy; policy == nil ||
		*policy != corev1.ServiceInternalTrafficPolicyLocal {
		t.Error("services should reach the agent of their own node")
	}
}

func TestPodsAreRestricted(t *testing.T) {
	c := build(t)
	for tier, pod := range c.pods() {
		if s := pod.Spec.SecurityContext; s == nil || !*s.RunAsNonRoot ||
			s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: the pod should not run as root, and with the runtime's seccomp profile", tier)
		}
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			s := container.SecurityContext
			if s == nil || *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem ||
				!slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
				t.Errorf("%s: container %s may do too much", tier, container.Name)
			}
			if container.Resources.Requests.Memory().IsZero() || container.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s: container %s has no bound of memory", tier, container.Name)
			}
		}
		if *pod.Spec.AutomountServiceAccountToken {
			t.Errorf("%s: the pod has no use for a token", tier)
		}
	}
}

// TestMemoryAndDiskSizesFit checks that the limiter acts before the kernel does, and that the disk holds the queues.
func TestMemoryAndDiskSizesFit(t *testing.T) {
	c := build(t)
	for tier, pod := range c.pods() {
		container := collector(t, pod)
		env := environment(container)
		prefix := "MCPOTEL_" + strings.ToUpper(tier)
		limiter, collect := mib(t, env[prefix+"_MEMORY_MIB"]+"Mi"), mib(t, strings.TrimSuffix(env["GOMEMLIMIT"], "B"))
		if limit := float64(container.Resources.Limits.Memory().Value()) / (1 << 20); limiter > 0.8*limit ||
			collect > 0.8*limit || collect < limiter {
			t.Errorf("%s: of %.0f MiB the limiter allows %.0f and Go is told %.0f, want at most 80 %%, and the limiter first",
				tier, limit, limiter, collect)
		}
		dir := env[prefix+"_QUEUE_DIR"]
		if !slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.Name == "queue" && strings.HasPrefix(dir, m.MountPath+"/")
		}) {
			t.Errorf("%s: the queue, %s, is not on the volume", tier, dir)
		}
	}
	bytes, err := strconv.ParseInt(environment(collector(t, c.gateway.Spec.Template))["MCPOTEL_GATEWAY_QUEUE_BYTES"], 10,
		64)
	if err != nil {
		t.Fatal(err)
	}
	claim := c.gateway.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage]
	if signals, copies := int64(2), int64(2); claim.Value() < signals*copies*bytes {
		t.Errorf("the volume has %s, want room for the queues of traces and logs, each %d bytes, and for one copy in "+
			"compaction", claim.String(), bytes)
	}
}

func mib(t *testing.T, quantity string) float64 {
	t.Helper()
	q, err := resource.ParseQuantity(quantity)
	if err != nil {
		t.Fatal(err)
	}
	return float64(q.Value()) / (1 << 20)
}

// port returns the number of a container's port, 0 if there is none.
func port(pod corev1.PodTemplateSpec, p intstr.IntOrString) int32 {
	for _, container := range pod.Spec.Containers {
		for _, has := range container.Ports {
			if has.Name == p.StrVal || has.ContainerPort == p.IntVal {
				return has.ContainerPort
			}
		}
	}
	return 0
}

// listening returns the ports on which the Collector listens with this environment.
func listening(env map[string]string) map[int32]bool {
	own := regexp.MustCompile(`^(?:0\.0\.0\.0:)?([0-9]+)$`)
	ports := map[int32]bool{}
	for name, value := range env {
		if m := own.FindStringSubmatch(value); m != nil &&
			regexp.MustCompile(`_(GRPC|HTTP|HEALTH|TELEMETRY_PORT|PROMETHEUS)$`).MatchString(name) {
			n, _ := strconv.Atoi(m[1])
			ports[int32(n)] = true
		}
	}
	return ports
}
