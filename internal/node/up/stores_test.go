package up

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOneStoreKeepsNobodyFromStarting: a cluster of which one store cannot be opened starts, answers as before, and
// fills that store again; where it cannot be set aside it goes on without, and says so, until that is mended.
func TestOneStoreKeepsNobodyFromStarting(t *testing.T) {
	cfg := upConfig(t, adsDB(t, 20))
	cfg.Slaves, cfg.Replicas = 2, 2
	bad := filepath.Join(cfg.Data, "slave-1")
	damage := func() {
		if err := os.WriteFile(filepath.Join(bad, "CURRENT"), []byte("MANIFEST-of-nothing\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	aside := func() []string {
		list, _ := filepath.Glob(bad + ".set-aside-*")
		return list
	}
	run := func(ready bool, slaves int) (why string) {
		t.Helper()
		c := startUp(t, cfg)
		defer func() {
			if err := c.stop(); err != nil {
				t.Error(err)
			}
		}()
		listen := 0
		for _, line := range c.lines {
			if strings.HasPrefix(line, "slave ") {
				listen++
			}
		}
		if listen != slaves {
			t.Errorf("%d slaves listen, want %d: %q", listen, slaves, c.lines)
		}
		if a := c.search(t, "usb cable"); len(a.Ads) != 4 || a.Matched != 20 || !a.Coverage.Complete || a.Ads[0].Keyword != 20 {
			t.Errorf("%+v", a)
		}
		for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
			status, text := readyz(t, c.admin)
			if (status == http.StatusOK) == ready && (ready || strings.Contains(text, "left out")) {
				return text
			}
			if time.Now().After(end) {
				t.Fatalf("ready: %d %s", status, text)
			}
		}
	}
	run(true, 2)
	damage()
	run(true, 2) // it is filled again
	if list := aside(); len(list) != 1 {
		t.Fatalf("set aside: %v", list)
	} else if text, err := os.ReadFile(filepath.Join(list[0], "CURRENT")); err != nil || string(text) != "MANIFEST-of-nothing\n" {
		t.Errorf("set aside is %q, %v", text, err)
	}
	damage()
	for i := range 2 {
		if err := os.Mkdir(fmt.Sprint(bad, ".set-aside-", i), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if why := run(false, 1); !strings.Contains(why, "slave-1 is left out") || !strings.Contains(why, bad+".set-aside-") {
		t.Errorf("it says %q", why)
	}
	for _, dir := range aside() {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	run(true, 2)
}

// readyz asks whether a cluster is ready.
func readyz(t *testing.T, admin string) (status int, text string) {
	t.Helper()
	resp, err := http.Get(admin + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, b.String()
}
