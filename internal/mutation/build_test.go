package mutation

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adshard/internal/overlay"
)

// built has the test programs of packages, with mutations in the packages that they test.
type built struct {
	programs map[string]string // by package
	woven    map[string]bool   // the mutations that the programs contain
	work     string            // GOWORK=path of a workspace of the product's modules
}

// build builds the tests once for all mutations that can be woven.
func build(t *testing.T, list map[string]mutation) *built {
	t.Helper()
	b := &built{programs: make(map[string]string), woven: make(map[string]bool), work: "GOWORK=" + workspace(t)}
	files, packages := make(map[string]*woven), []string(nil)
	for name, m := range list {
		file, source := m.source(t)
		if files[file] == nil {
			files[file] = &woven{source: source, of: make(map[string][]string), bodies: make(map[string]string)}
		}
		if b.woven[name] = files[file].weave(name, m.before, m.after); b.woven[name] {
			packages = append(packages, m.tested)
		}
	}
	edited := make(map[string]string)
	for file, w := range files {
		if len(w.bodies) > 0 {
			edited[file] = w.text(t)
			edited[filepath.Join(filepath.Dir(file), "mutation_chosen.go")] = switchFile(w.name)
		}
	}
	overlaid := writeOverlay(t, edited)
	slices.Sort(packages)
	for _, some := range namesApart(slices.Compact(packages)) {
		dir := t.TempDir()
		args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlaid, "-o", dir + "/"}
		cmd := exec.Command("go", append(args, some...)...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), b.work)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build with mutations: %v\n%s", err, out)
		}
		for _, p := range some {
			b.programs[p] = filepath.Join(dir, path.Base(p)+".test")
		}
	}
	return b
}

// workspace writes a go.work, so that packages of all modules of the product can be named from its root.
func workspace(t *testing.T) string {
	t.Helper()
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "go.work")
	write(t, name, "go 1.26.0\n\nuse (\n\t"+from+"\n\t"+filepath.Join(from, "counters")+"\n)\n")
	return name
}

// namesApart divides packages into parts in which no two have the same name, since the name of a package is that of
// its test program.
func namesApart(packages []string) (parts [][]string) {
	times := make(map[string]int)
	for _, p := range packages {
		n := times[path.Base(p)]
		times[path.Base(p)]++
		if n == len(parts) {
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], p)
	}
	return parts
}

// run runs the tests that must notice a mutation.
func (b *built) run(t *testing.T, name string, m mutation) (out string, failed bool) {
	t.Helper()
	var cmd *exec.Cmd
	if b.woven[name] {
		cmd = exec.Command(b.programs[m.tested], "-test.run", m.tests, "-test.timeout=5m")
		cmd.Dir = filepath.Join(root, m.tested)
	} else {
		file, source := m.source(t)
		edited := writeOverlay(t, map[string]string{file: strings.Replace(source, m.before, m.after, 1)})
		cmd = exec.Command("go", "test", "-count=1", "-vet=off", "-timeout=5m", "-overlay", edited, "-run", m.tests, m.tested)
		cmd.Dir = root
	}
	// make test tries fewer cases of properties, so that a fault may not show.
	cmd.Env = slices.Concat(os.Environ(), m.env, []string{"RAPID_CHECKS=100", chosen + "=" + name, b.work})
	text, err := cmd.CombinedOutput()
	return string(text), err != nil
}

// writeOverlay writes the contents of files for go's -overlay, and returns the name of
// the file that lists them.
func writeOverlay(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	replace := make(map[string]string)
	for file, text := range contents {
		own := filepath.Join(dir, strings.ReplaceAll(strings.TrimPrefix(file, "/"), "/", "-"))
		replace[file] = own
		write(t, own, text)
	}
	list, err := overlay.Marshal(replace)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	write(t, name, string(list))
	return name
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
