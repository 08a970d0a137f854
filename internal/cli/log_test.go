package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogLines checks everything that a cluster logs, in both formats: no line has a key twice, a dump of Go structs
// or maps, or a duration without its unit.
func TestLogLines(t *testing.T) {
	dir := t.TempDir()
	db := "sqlite:" + filepath.Join(dir, "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(errOut)
	}
	for format, check := range map[string]func(string) error{"json": cleanJSON, "text": cleanText} {
		_, admin, log, end := startUp(t, "--db", db, "--slaves", "2", "--order", "advertiser", "--data", filepath.Join(dir, format),
			"--log-level", "debug", "--log-format", format)
		for _, command := range []string{"balance pause", "balance strategy original", "balance resume", "slaves drain --no-wait slave-1", "slaves list"} {
			if status, _, errOut := run(t, "adshard", append(strings.Fields(command), "--addr", admin)...); status != exitDone {
				t.Errorf("%s: %s", command, errOut)
			}
		}
		end()
		n := 0
		for line := range strings.Lines(log.String()) {
			n++
			if err := check(strings.TrimSpace(line)); err != nil {
				t.Errorf("%v in %s", err, line)
			}
			if strings.Contains(line, "context canceled") {
				t.Errorf("told to end: %s", line)
			}
		}
		if n < 10 || !strings.Contains(log.String(), "changed through the admin port") {
			t.Errorf("%d lines of %s: %s", n, format, log.String())
		}
	}
}

// cleanJSON checks one line of JSON: it must be flat, except for answers of the admin port.
func cleanJSON(line string) error {
	d := json.NewDecoder(strings.NewReader(line))
	if _, err := d.Token(); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key := fmt.Sprint(token)
		if seen[key] {
			return fmt.Errorf("the key %s twice", key)
		}
		seen[key] = true
		var v any
		if err := d.Decode(&v); err != nil {
			return err
		}
		switch v := v.(type) {
		case float64:
			if key == "took" || key == "grace" {
				return fmt.Errorf("%s without a unit", key)
			}
		case string:
			if dumped(v) {
				return fmt.Errorf("a dump in %s", key)
			}
		case map[string]any, []any:
			if key != "answer" {
				return fmt.Errorf("%s is not a single value", key)
			}
		}
	}
	return nil
}

// cleanText checks one line of the text format.
func cleanText(line string) error {
	if dumped(line) {
		return fmt.Errorf("a dump")
	}
	seen := make(map[string]bool)
	for _, word := range strings.Fields(unquoted(line)) {
		if key, _, ok := strings.Cut(word, "="); ok {
			if seen[key] {
				return fmt.Errorf("the key %s twice", key)
			}
			seen[key] = true
		}
	}
	return nil
}

// dumped reports whether a text has Go structs, maps or pointers as printed by fmt.
func dumped(text string) bool {
	for _, mark := range []string{"map[", "&{", "=\"{", "={", "0xc0", "<nil>"} {
		if strings.Contains(text, mark) && !strings.Contains(text, `answer="{\"`) {
			return true
		}
	}
	return false
}

// unquoted returns the line without quoted values.
func unquoted(line string) string {
	var b strings.Builder
	in, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			in = !in
		case !in:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TestInterrupted: Ctrl-C ends each command with its own message, never with the error text of Go's contexts. Servers
// then exit with status 0.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	db := "sqlite:" + filepath.Join(dir, "ads.db")
	ads := file(t, "ads.csv", editor)
	if status, _, errOut := run(t, "adshard", "import", "--db", db, ads); status != exitDone {
		t.Fatal(errOut)
	}
	for _, command := range []string{
		"import --db " + db + " " + ads, "query usb", "query --explain usb", "barrels build --db " + db + " --out " + dir + "/built",
		"balance status", "balance slices", "balance plan", "balance why 1", "balance move 1 slave-0", "balance strategy",
		"balance strategy original", "balance pause", "slaves list", "slaves add 127.0.0.1:1", "slaves drain slave-0", "slaves remove slave-0",
		"up --db " + db + " --data " + dir + "/up --http 127.0.0.1:0 --admin 127.0.0.1:0",
		"balancer --db " + db + " --listen 127.0.0.1:0 --admin 127.0.0.1:0",
		"slave --dir " + dir + "/slave --listen 127.0.0.1:0 --admin 127.0.0.1:0", "master --http 127.0.0.1:0 --admin 127.0.0.1:0",
		"distributor --db " + db + " --listen 127.0.0.1:0 --admin 127.0.0.1:0",
	} {
		var out, errOut bytes.Buffer
		status := Main(ctx, "adshard", strings.Fields(command), Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
		server := strings.Contains(command, "127.0.0.1:0")
		if text := out.String() + errOut.String(); strings.Contains(text, "context canceled") || strings.Contains(text, "cannot reach") {
			t.Errorf("%s: %s", command, text)
		} else if status != exitDone && (server || !strings.Contains(text, "interrupted")) {
			t.Errorf("%s: %d %s", command, status, text)
		}
	}
}
