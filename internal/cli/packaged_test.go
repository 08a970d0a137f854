package cli

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const deploy = "../../deploy"

// accepts fails the test unless adshard accepts a command line. It returns the configuration that results from it.
func accepts(t *testing.T, of string, args []string) map[string]any {
	t.Helper()
	status, out, errOut := run(t, "adshard", append(args, "--print-config")...)
	if status != exitDone {
		t.Fatalf("%s: %q: %d %s", of, args, status, errOut)
	}
	var config map[string]any
	if err := yaml.Unmarshal([]byte(out), &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// TestUnitsAreAccepted: the programs that the packages' units start accept their arguments and the installed
// configuration; together they form a cluster on one machine.
func TestUnitsAreAccepted(t *testing.T) {
	units, err := filepath.Glob(deploy + "/packages/systemd/*.service")
	if err != nil || len(units) != 5 {
		t.Fatalf("%q %v: want five units", units, err)
	}
	used := make(map[string]bool)
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\nExecStart=/usr/bin/adshard ")
		command, _, _ := strings.Cut(rest, "\n")
		args := strings.Fields(strings.NewReplacer("%i", "slave-0", "/etc/adshard/", deploy+"/packages/etc/").Replace(command))
		config := accepts(t, unit, args)
		used[filepath.Base(args[slices.Index(args, "--config")+1])] = true
		for _, key := range []string{"db", "dir"} {
			if path, has := config[key].(string); has && !strings.HasPrefix(strings.TrimPrefix(path, "sqlite:"), "/var/lib/adshard/") {
				t.Errorf("%s: %s is %s, which the unit may not write", unit, key, path)
			}
		}
		if address, has := config["balancer"]; has && address != "127.0.0.1:7000" {
			t.Errorf("%s: balancer is %v", unit, address)
		}
	}
	files, err := os.ReadDir(deploy + "/packages/etc")
	if err != nil || len(files) != len(used) {
		t.Errorf("%v: %d configurations, of which units name %d", err, len(files), len(used))
	}
}

// TestComposeIsAccepted: programs accept the command lines of the containers of deploy/compose.yaml.
func TestComposeIsAccepted(t *testing.T) {
	text, err := os.ReadFile(deploy + "/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Command     []string
			Healthcheck struct{ Test []string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	started := 0
	for name, service := range file.Services {
		if service.Command == nil {
			continue // for the user's commands
		}
		started++
		config := accepts(t, name, service.Command)
		if config["advertise"] != nil && config["advertise"] != name+":"+port(config["listen"]) {
			t.Errorf("%s is reached at %v", name, config["advertise"])
		}
		if probe := strings.Join(service.Healthcheck.Test, " "); !strings.Contains(probe, "/dev/tcp/127.0.0.1/"+port(config["admin"])+" ") {
			t.Errorf("%s has its admin port at %v, and is asked by %s", name, config["admin"], probe)
		}
	}
	if started != 5 {
		t.Errorf("%d services, want five", started)
	}
}

// manifest has the parts of a Kubernetes object that the tests compare.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Replicas int
		Ports    []struct {
			Port       int
			TargetPort string `yaml:"targetPort"`
		}
		Template struct {
			Spec struct{ Containers []container }
		}
	}
}

type container struct {
	Args  []string
	Ports []struct {
		Name          string
		ContainerPort int `yaml:"containerPort"`
	}
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
}

type probe struct {
	HTTPGet struct{ Path, Port, Scheme string } `yaml:"httpGet"`
}

// TestKubernetesIsAccepted: programs accept the configurations of deploy/kubernetes, which use the same ports as the
// manifests.
func TestKubernetesIsAccepted(t *testing.T) {
	for part, listens := range map[string]string{"balancer": "listen", "slave": "listen", "master": "http"} {
		sets := 0
		for _, m := range manifests(t, part) {
			if m.Kind != "StatefulSet" {
				continue
			}
			sets++
			c := m.Spec.Template.Spec.Containers[0]
			pod := strings.NewReplacer("$(POD)", part+"-0", "$(NODE)", "node-1", "/etc/adshard/config/", deploy+"/kubernetes/config/")
			var args []string
			for _, a := range c.Args {
				args = append(args, pod.Replace(a))
			}
			config := accepts(t, part, args)
			if part == "balancer" && config["slaves"] != replicasOf(t, "slave") {
				t.Errorf("the balancer waits for %v slaves of %d", config["slaves"], replicasOf(t, "slave"))
			}
			if part != "balancer" && config["name"] != part+"-0" {
				t.Errorf("%s: its name is %v", part, config["name"])
			}
			for _, p := range c.Ports {
				key := map[string]string{"admin": "admin", "peers": listens, "queries": listens}[p.Name]
				if strconv.Itoa(p.ContainerPort) != port(config[key]) {
					t.Errorf("%s: the port %s is %d, and %s is %v", part, p.Name, p.ContainerPort, key, config[key])
				}
			}
			if l, r := c.LivenessProbe.HTTPGet, c.ReadinessProbe.HTTPGet; l.Path != "/livez" || r.Path != "/readyz" || l.Port != "admin" || r.Port != "admin" || l.Scheme != "HTTPS" || r.Scheme != "HTTPS" {
				t.Errorf("%s: it is asked at %v and %v", part, l, r)
			}
		}
		if sets != 1 {
			t.Errorf("%s: %d sets", part, sets)
		}
	}
}

func replicasOf(t *testing.T, part string) int {
	t.Helper()
	for _, m := range manifests(t, part) {
		if m.Kind == "StatefulSet" {
			return m.Spec.Replicas
		}
	}
	return 0
}

func manifests(t *testing.T, part string) (all []manifest) {
	t.Helper()
	text, err := os.ReadFile(deploy + "/kubernetes/" + part + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		all = append(all, m)
	}
}

func port(address any) string {
	text, _ := address.(string)
	_, p, _ := net.SplitHostPort(text)
	return p
}
