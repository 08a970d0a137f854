package sim_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMutations breaks the core on purpose, in each of the ways described in
// testdata/mutations, and demands that a play notices. A description names the
// file, a few of the seeds and the kept scenarios that show it, then the text
// to be replaced, which must stand there once, and the text to be put in its
// place. When nobody notices any more since the core has changed, play more
// seeds with SIM_MUTANT_SEEDS=300 and name those that do.
//
//	# what is wrong then
//	file balance/next.go
//	seeds 5 6 11
//	replay flipped_byte|slow_slave
//	--- old
//	…
//	--- new
//	…
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("mutations compile the core anew: not in -short")
	}
	files, err := filepath.Glob("testdata/mutations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no mutations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			m := readMutation(t, file)
			out, failed := m.test(t)
			switch {
			case !failed:
				t.Errorf("%s: nobody noticed of the scenarios %s and the seeds %s", m.remark, m.replay, m.seeds)
			case first(out) == "":
				t.Errorf("the mutated core does not run:\n%s", out)
			default:
				t.Logf("%s: %s", m.remark, first(out))
			}
		})
	}
}

type mutation struct{ remark, file, seeds, replay, before, after string }

func readMutation(t *testing.T, file string) mutation {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m mutation
	head, rest, _ := strings.Cut(string(text), "--- old\n")
	m.before, m.after, _ = strings.Cut(rest, "--- new\n")
	for line := range strings.Lines(head) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "#":
			m.remark = strings.TrimSpace(m.remark + " " + rest)
		case "file":
			m.file = filepath.Join("..", "..", rest)
		case "seeds":
			m.seeds = rest
		case "replay":
			m.replay = rest
		}
	}
	return m
}

// test plays on the mutated core, in a process of its own.
func (m mutation) test(t *testing.T) (out string, failed bool) {
	t.Helper()
	source, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.before); n != 1 || m.before == m.after {
		t.Fatalf("the text to be replaced stands %d times in %s: mend the mutation", n, m.file)
	}
	dir := t.TempDir()
	mutated := filepath.Join(dir, "mutated.go")
	path, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, mutated, strings.Replace(string(source), m.before, m.after, 1))
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	cmd := exec.Command("go", "test", "-count=1", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"),
		"-run", `^(TestSeeds|TestReplay)$/^(`+m.replay+`)\.txt$`, ".")
	cmd.Env = append(os.Environ(), "SIM_ONLY="+m.seeds, "SIM_SHRINK=0")
	if n := os.Getenv("SIM_MUTANT_SEEDS"); n != "" {
		cmd.Env = append(cmd.Env, "SIM_ONLY=", "SIM_FROM=1", "SIM_SEEDS="+n)
	}
	b, err := cmd.CombinedOutput()
	return string(b), err != nil
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// first returns the line that says what was noticed.
func first(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "sim: at ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
