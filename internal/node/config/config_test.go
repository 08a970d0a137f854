package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/config"
)

type sample struct {
	Name  string        `yaml:"name"`
	Wait  time.Duration `yaml:"wait"`
	Count int           `yaml:"count"`
}

func TestFileOverDefaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte("name: b\nwait: 1m30s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := sample{Name: "a", Count: 7}
	if err := config.Load(path, &c); err != nil {
		t.Fatal(err)
	}
	if want := (sample{Name: "b", Wait: 90 * time.Second, Count: 7}); c != want {
		t.Fatalf("%+v, want %+v", c, want)
	}
	var b bytes.Buffer
	if err := config.Write(&b, &c); err != nil {
		t.Fatal(err)
	}
	var back sample
	if err := config.Parse(b.Bytes(), &back); err != nil || back != c {
		t.Fatalf("%q read back as %+v, %v", b.String(), back, err)
	}
}

func TestAllFaultsAreListed(t *testing.T) {
	err := config.Parse([]byte("nome: x\ncount: many\nwait: soon\nmore: 1\n"), &sample{})
	for _, want := range []string{"nome", "many", "soon", "more", "line 1", "line 4"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("kind %s", fault.KindOf(err))
	}
}

// TestValuesThatDoNotFit: an error names the key and the value as written in the file, and gives an example. It does not name a Go
// type.
func TestValuesThatDoNotFit(t *testing.T) {
	type below struct {
		After time.Duration `yaml:"after"`
		Most  int           `yaml:"most"`
	}
	var into struct {
		Wait   time.Duration  `yaml:"wait"`
		Count  int            `yaml:"count"`
		Small  uint32         `yaml:"small"`
		Share  float64        `yaml:"share"`
		On     bool           `yaml:"on"`
		Name   string         `yaml:"name"`
		List   []string       `yaml:"list"`
		Memory config.Size    `yaml:"memory"`
		Slow   below          `yaml:"slow"`
		Rule   *below         `yaml:"rule"`
		Of     map[string]int `yaml:"of"`
		Few    []int          `yaml:"few"`
	}
	for text, want := range map[string]string{
		"wait: 10":                             `line 1: wait: "10" is not a duration: write 10s, 1m30s or 250ms`,
		"# a\nwait: a longer text than others": `line 2: wait: "a longer text than others" is not a duration`,
		"count: many":                          `line 1: count: "many" is not a whole number`,
		"count: 1.5":                           `line 1: count: "1.5" is not a whole number within its bounds: write 8`,
		"small: 2.0":                           `line 1: small: "2.0" is not a whole number`,
		"rule: {after: 1s, most: 0.5}":         `line 1: rule.most: "0.5" is not a whole number`,
		"of: {a: 1, b: 2.5}":                   `line 1: of.b: "2.5" is not a whole number`,
		"few: [1, 2.5]":                        `line 1: few: "2.5" is not a whole number`,
		"small: -1":                            `line 1: small: "-1" is not a whole number within its bounds`,
		"share: half":                          `line 1: share: "half" is not a number`,
		"on: perhaps":                          `line 1: on: "perhaps" is neither true nor false`,
		"name: [a]":                            `line 1: name: a list is not one text`,
		"list: {a: 1}":                         `line 1: list: a group of keys is not a list`,
		"list: a":                              `line 1: list: "a" is not a list: write [a, b]`,
		"memory: lots":                         `line 1: memory: "lots" is not a size: write 512MiB or 4GiB`,
		"slow: 5s":                             `line 1: slow: "5s" is not a group of keys`,
		"slow:\n  after: 5":                    `line 2: slow.after: "5" is not a duration`,
		"slow: {after: 5}":                     `line 1: slow.after: "5" is not a duration`,
		"rule: {aftre: 5s}":                    `line 1: there is no key aftre; did you mean after?`,
		"of: {a: 1, b: c}":                     `line 1: of.b: "c" is not a whole number`,
	} {
		err := config.Parse([]byte(text), &into)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "unmarshal") {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	if err := config.Load(filepath.Join(t.TempDir(), "none"), &sample{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a missing file: %v", err)
	}
	for _, text := range []string{"{", "a: b: c", "name: x\n---\nname: y\n", "- 1"} {
		if err := config.Parse([]byte(text), &sample{}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := config.Parse(nil, &sample{}); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

func TestCheckListsAllFaults(t *testing.T) {
	var c config.Check
	c.Address("listen", "127.0.0.1:0", true)
	c.Address("admin", "", false)
	c.OneOf("profile", "default", "default", "sklik")
	c.Apart("admin", "127.0.0.1:0", "http", "127.0.0.1:0")
	c.Apart("admin", "", "http", "127.0.0.1:8080")
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	c.Address("listen", "", true)
	c.Address("http", "127.0.0.1", true)
	c.Address("bad", "127.0.0.1:http", true)
	c.Apart("same", "127.0.0.1:8080", "http", "127.0.0.1:8080")
	c.Duration("wait", 0, time.Second, time.Minute)
	c.Number("slaves", 0, 1, 10)
	c.OneOf("profile", "x", "default")
	err := c.Err()
	for _, want := range []string{"listen", "http", "bad", "same", "wait", "slaves", "profile"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("kind %s", fault.KindOf(err))
	}
}

// TestListenersAreApart: a pair of addresses is refused if both could not be listened on at once, however they are written.
func TestListenersAreApart(t *testing.T) {
	for pair, ok := range map[[2]string]bool{
		{"127.0.0.1:80", "127.0.0.1:80"}: false, {":80", "127.0.0.1:80"}: false, {"127.0.0.1:80", "0.0.0.0:80"}: false, {"[::]:80", ":80"}: false,
		{"localhost:80", "127.0.0.1:80"}: false, {"127.0.0.1:80", "127.0.0.1:81"}: true, {"10.0.0.1:80", "10.0.0.2:80"}: true,
		{"127.0.0.1:0", "127.0.0.1:0"}: true, {":0", ":0"}: true, {"", ""}: true, {"", ":80"}: true,
	} {
		for _, p := range [][2]string{pair, {pair[1], pair[0]}} {
			var c config.Check
			if c.Apart("admin", p[0], "http", p[1]); (c.Err() == nil) != ok {
				t.Errorf("%s and %s: %v", p[0], p[1], c.Err())
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: x\nwait: 1s\ncount: 3\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := config.Parse(b, &sample{}); err != nil && !fault.Is(err, fault.Invalid) {
			t.Fatalf("%v is %s", err, fault.KindOf(err))
		}
	})
}

func TestNamesAndAddressesThatNoPeerTakes(t *testing.T) {
	for _, name := range []string{"", strings.Repeat("x", 101), "a\nb", "a\xff"} {
		var c config.Check
		if c.Name("name", name); c.Err() == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
	var c config.Check
	c.Name("name", strings.Repeat("x", 100))
	if c.Err() != nil {
		t.Error(c.Err())
	}
	if c.Address("balancer", strings.Repeat("x", 300)+":1", true); c.Err() == nil {
		t.Error("an address of 302 bytes is taken")
	}
}
