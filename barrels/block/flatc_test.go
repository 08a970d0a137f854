package block_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"adshard/barrels/block"
)

// TestOthersRead: programs generated from block.fbs, in other languages, can read a block
// without its last nine bytes.
func TestOthersRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "block.bin")
	value := encode(twoGroups())
	if err := os.WriteFile(file, value[:len(value)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("flatc", func(t *testing.T) {
		dir := t.TempDir()
		flatc(t, "--json", "--raw-binary", "--strict-json", "-o", dir, fbs, "--", file)
		got, err := os.ReadFile(filepath.Join(dir, "block.json"))
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, got)
	})
	t.Run("Python", func(t *testing.T) {
		dir := t.TempDir()
		flatc(t, "--python", "-o", dir, fbs)
		const python = "/usr/bin/python3" // Debian's python3, which has the package
		if exec.Command(python, "-c", "import flatbuffers").Run() != nil {
			t.Skip("python3-flatbuffers is missing: deploy/setup.sh test installs it")
		}
		c := exec.Command(python, filepath.Join("testdata", "block.py"), file)
		c.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
		c.Stderr = os.Stderr
		got, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		sameJSON(t, got)
	})
}

// fbs is the path of the schema.
var fbs = filepath.Join("..", "..", "schema", "fbs", "block.fbs")

// twoGroups returns postings of two groups, one of which sets a modifier, with a word whose
// folded form differs; two postings share their words.
func twoGroups() []block.Entry {
	plain := [3]uint16{block.NotSet, block.NotSet, block.NotSet}
	first := &block.Group{Key: 7, ID: 3, Campaign: 2, Advertiser: 1, Modifiers: plain, Flags: block.GroupLive}
	second := &block.Group{Key: 9, ID: 4, Campaign: 2, Advertiser: 1, Modifiers: plain, Flags: block.GroupEnabled | block.FactorFlags(2000)}
	second.Modifiers[1] = 500
	usb, cable := block.Word{Norm: 11, Fold: 12, Term: 13}, block.Word{Norm: ^uint64(0), Fold: ^uint64(0), Term: 15}
	return []block.Entry{
		{Group: first, Keyword: 20, Bid: 150_000, Type: 2, Quality: 7, Flags: block.Enabled | block.HasBid, Words: []block.Word{usb, cable}},
		{Group: second, Keyword: 21, Type: 1, Quality: 5, Words: []block.Word{cable}},
		{Group: second, Keyword: 22, Type: 0, Quality: 5, Words: []block.Word{cable}},
	}
}

// sameJSON compares what another program read with twoGroups.
func sameJSON(t *testing.T, got []byte) {
	t.Helper()
	const want = `{
	"words": [{"norm": 18446744073709551615, "term": 15}, {"norm": 11, "term": 13}], "folds": [12],
	"groups": [{"key": 7, "flags": 3, "id": 3, "campaign": 2, "advertiser": 1, "factor": 0}, {"key": 9, "flags": 1, "id": 4, "campaign": 2, "advertiser": 1, "factor": 2}],
	"modifiers": [{"desktop": 65535, "mobile": 65535, "tablet": 65535}, {"desktop": 65535, "mobile": 500, "tablet": 65535}],
	"postings": [
		{"first": 0, "words": 2, "group": 0, "type": 2, "quality": 7, "flags": 3, "keyword": 20, "bid": 150000},
		{"first": 2, "words": 1, "group": 1, "type": 1, "quality": 5, "flags": 0, "keyword": 21, "bid": 0},
		{"first": 2, "words": 1, "group": 1, "type": 0, "quality": 5, "flags": 0, "keyword": 22, "bid": 0}
	],
	"references": [1, 0, 0], "bound": {"own": 0, "inherited": 84000000000}, "live": 1
}`
	if !reflect.DeepEqual(decoded(t, got), decoded(t, []byte(want))) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func decoded(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func flatc(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("flatc"); err != nil {
		t.Skip("flatc is missing: deploy/setup.sh test installs it")
	}
	if out, err := exec.Command("flatc", args...).CombinedOutput(); err != nil {
		t.Fatalf("flatc: %v: %s", err, out)
	}
}
