package bench

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adshard/internal/outfile/outfiletest"
)

// noOutputs are the flags that do not name an output of a command.
var noOutputs = strings.Split("addr,admin,adshard,barrels,ca,creators,curve,data,db,device,encoding,from,grid,grids,initial,join,layouts,lexicon,listen,memory,order,params,peers,"+
	"postgres,profile,reports,searches,set,setups,source,strategies,strategy,threads,variants,workload,"+
	"load contexts,balance queries,clicks queries,copy queries,first-fill queries,freshness queries,grid queries,load queries,memory queries,overload queries,passes queries,premise queries,replicas queries,store queries", ",")

// outputs are the flags that name outputs of a command, with the rest of its arguments. IN
// stands for a file of queries, NEW for an unused name. own lists the victims that may be
// replaced.
var outputs = []struct{ flags, args, own string }{
	{"balance json html work", "--simulate --slaves 2", ""},
	{"build json", "--keywords 10 --out NEW", ""},
	{"build out", "--keywords 10", ""},
	{"clicks json html work", "--keywords 10", ""},
	{"copy json work", "--keywords 10 --rounds 1", ""},
	{"corpus out", "--keywords 10", ""},
	{"corpus out", "--keywords 10 --force", "notes.txt settings.yaml report.json rejects.tsv conflicts.tsv lexicon.txt queries.log"},
	{"corpus queries contexts", "--keywords 10 --out NEW", ""},
	{"corpus targeting", "--keywords 10 --targeted 1 --out NEW", ""},
	{"counters json work", "", ""},
	{"esdb json html", "", ""},
	{"executions json html work", "--keywords 10", ""},
	{"first-fill json work", "--keywords 10", ""},
	{"fresh json", "--db sqlite:NEW", ""},
	{"freshness json work", "--keywords 10", ""},
	{"grid json work", "--queries IN --keywords 10", ""},
	{"hot json work", "--adshard a=NEW", ""},
	{"load json", "--queries IN --addr 127.0.0.1:1", ""},
	{"memory json", "--barrels NEW --queries IN", ""},
	{"overload json", "--queries IN --addr 127.0.0.1:1", ""},
	{"passes json html work", "--keywords 10", ""},
	{"premise json html work", "--keywords 10", ""},
	{"replicas json html", "--barrels NEW --queries IN", ""},
	{"search json html points work", "--keywords 10", ""},
	{"sizing json", "--grid IN --curve IN --searches IN --out NEW", ""},
	{"sizing out", "--grid IN --curve IN --searches IN", ""},
	{"split json html work", "", ""},
	{"store json cpuprofile", "--barrels NEW --queries IN", ""},
}

// TestEveryOutputHasARow: every flag is listed either as naming an output or as not naming one.
func TestEveryOutputHasARow(t *testing.T) {
	var rows []string
	for _, o := range outputs {
		words := strings.Fields(o.flags)
		for _, flag := range words[1:] {
			rows = append(rows, words[0]+" "+flag)
		}
	}
	outfiletest.CheckFlags(t, Command(), noOutputs, rows)
}

// TestOutputsDestroyNothing: if an output of any command names something that is not of the
// output's kind, this stays unchanged, and the error says what to do.
func TestOutputsDestroyNothing(t *testing.T) {
	v := outfiletest.Make(t)
	before := v.State(t)
	in := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(in, []byte("red lamp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range outputs {
		words := strings.Fields(o.flags)
		for _, flag := range words[1:] {
			for name, path := range v.Paths {
				if slices.Contains(strings.Fields(o.own), name) {
					continue
				}
				rest := strings.NewReplacer("IN", in, "NEW", filepath.Join(t.TempDir(), "new")).Replace(o.args)
				args := append(append(words[:1:1], strings.Fields(rest)...), "--"+flag, path)
				if err := ends(t, args); err == nil || !outfiletest.Advises(err.Error()) {
					t.Errorf("%v: %v", args, err)
				}
				if now := v.State(t); now != before {
					t.Errorf("%v: %s", args, outfiletest.Changes(before, now))
					before = now
				}
			}
		}
	}
}

// ends runs a command that must soon end by itself.
func ends(t *testing.T, args []string) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	c := Command()
	c.SetOut(&out)
	c.SetErr(&out)
	c.SetArgs(args)
	err := c.ExecuteContext(ctx)
	if ctx.Err() != nil {
		t.Errorf("%v runs", args)
	}
	return err
}

// TestWorkKeepsWhatIsThere: a command that works in a user's directory removes only what it has
// made itself.
func TestWorkKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"copy", "passes", "grid", "first-fill", "stores", "clusters", "cluster-original", "turn", "adshard-built", "corpus-10-0-1.db.parts"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "mine"), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	was := outfiletest.State(t, dir)
	program, err := exec.LookPath("false") // this is not adshard: starting it fails after everything has been made
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(in, []byte("red lamp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"copy --keywords 10 --rounds 1", "passes --keywords 10 --strategies original --patience 1s", "grid --keywords 10 --grids 1x1 --patience 1s --queries " + in,
		"first-fill --keywords 10 --patience 1s", "premise --keywords 10 --trees -1 --patience 1s", "balance --keywords 10 --slaves 1 --strategies original --rate 10 --duration 1s", "hot --keywords 20 --turns 1 --patience 1s",
		"counters --duration 100ms --phase 100ms --users 1 --rate 1 --least 1ms --most 2ms --window 40ms --compact 40ms --shards 1 --questions 1 --numbers 0 --course 0", "split --seeds 1 --records 0",
	} {
		words := append(strings.Fields(args), "--work", dir)
		if !slices.Contains([]string{"counters", "split"}, words[0]) {
			words = append(words, "--adshard", program)
		}
		said := ends(t, words)
		now := outfiletest.State(t, dir)
		for line := range strings.Lines(was) {
			if !strings.Contains(now, line) && !strings.HasPrefix(line, ". ") {
				t.Errorf("%v: %v: %s is gone:\n%s", words, said, line, now)
			}
		}
	}
}
