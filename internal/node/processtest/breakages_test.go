package processtest

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"adshard/barrels/barreltest"
	"adshard/internal/cli"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/config"
	"adshard/internal/node/porttest"
)

// breakage is something that breaks in a healthy cluster of separate programs: a balancer, two slaves that are a shard each, and a master.
type breakage struct {
	what string
	// bring brings it about and returns what a process said when it ended, or "" if none ended by itself.
	bring func(b *broken) string
	// first must be in the first finding, and advice in what to do; there is no other finding.
	first, advice string
	// said must be in the log of the process that ended.
	said string
}

// broken is a cluster that is to be broken.
type broken struct {
	*cluster
	url    string
	admins []string // of the master and the slaves
	disk   string   // of the slaves
	flags  []string // of the doctor
}

var breakages = []breakage{
	{"another process has a slave's port", func(b *broken) string {
		b.parts["slave-1"].stop()
		other, err := net.Listen("tcp", b.slave[1].Listen)
		b.world.must(err)
		b.t.Cleanup(func() { _ = other.Close() })
		return b.ends(1)
	}, "slave-1 is away", "its log says why it ended", "another process listens on"},
	{"a typo in a slave's configuration", func(b *broken) string {
		b.parts["slave-1"].stop()
		return b.commandEnds("grace: 10\nbalancr: x:1\n")
	}, "slave-1 is away", "its log says why it ended", "did you mean balancer?"},
	{"a full disk at a slave's start", func(b *broken) string {
		b.parts["slave-1"].stop()
		fill(b.t, b.disk)
		return b.ends(1)
	}, "slave-1 is away", "its log says why it ended", "free some space, and start the program again"},
	{"a full disk below two running slaves", func(b *broken) string {
		fill(b.t, b.disk)
		b.world.write(0, 60)
		return ""
	}, "slave-0 makes no progress", "make room", ""},
	{"a slave's certificate is of another CA", func(b *broken) string {
		b.parts["slave-1"].stop()
		b.slave[1].TLS = certtest.Named(b.t, "other").Settings(certs.Required, access.Slave, "slave-1").TLS
		b.start(1)
		return ""
	}, "the balancer refuses a process at 127.0.0.1", "adshard cert issue", ""},
	{"the database was moved", func(b *broken) string {
		b.world.must(b.world.db.Close())
		b.world.must(os.Rename(b.world.path, b.world.path+".moved"))
		return ""
	}, "ads.db was removed or renamed", "mend what it names", ""},
	{"a slave's directory was copied for another", func(b *broken) string {
		b.parts["slave-0"].stop()
		cfg := b.slave[0]
		cfg.Name, cfg.Listen, cfg.Admin, cfg.Dir = "slave-2", anyPort, "", filepath.Join(b.disk, "slave-2")
		b.world.must(os.CopyFS(cfg.Dir, os.DirFS(b.slave[0].Dir)))
		b.startSlave(0)
		b.slave = append(b.slave, cfg)
		b.startSlave(2)
		return ""
	}, "slave-2 at 127.0.0.1", "do as it says", ""},
	{"the balancer was killed", func(b *broken) string { b.parts["balancer"].kill(); return "" },
		"no balancer that leads answers: nothing listens there", "start it again: `balancer", ""},
	{"the balancer stands still", func(b *broken) string { b.parts["balancer"].freeze(); return "" },
		"has not answered within 2 s: its process hangs", "kill -KILL", ""},
	{"a slave was killed", func(b *broken) string { b.parts["slave-1"].kill(); return "" },
		"slave-1", "start it again: `slave", ""},
	{"a slave stands still", func(b *broken) string { b.parts["slave-1"].freeze(); return "" },
		"slave-1", "kill -KILL", ""},
	{"a slave's clock is an hour behind", func(b *broken) string {
		b.admins[2] = late(b.t, b.admins[2])
		return ""
	}, "the clock of the machine of slave-1", "NTP", ""},
}

// TestBreakages: for each breakage the doctor has one finding, which names the cause or the process whose log does, and says what to do.
// With BREAKAGES_LONG all are tried, not three, and it prints what the doctor said, and how soon.
func TestBreakages(t *testing.T) {
	long := os.Getenv("BREAKAGES_LONG") != ""
	for i, k := range breakages {
		if !long && i%4 != 1 {
			continue
		}
		t.Run(k.what, func(t *testing.T) {
			b := newBroken(t, strings.Contains(k.what, "certificate"), strings.Contains(k.what, "disk"))
			began := time.Now()
			said := k.bring(b)
			if !strings.Contains(said, k.said) {
				t.Errorf("the process that ended said %q", said)
			}
			out := b.named(k)
			t.Logf("%s: named %.0f s after it began\n%s\nits log: %s", k.what, time.Since(began).Seconds(), out, lastLine(said))
		})
	}
}

// newBroken starts a healthy cluster, with TLS or without, on a disk that can be filled or not.
func newBroken(t *testing.T, secure, small bool) *broken {
	t.Helper()
	w := newWorld(t, 60)
	b := &broken{cluster: newCluster(t, w), disk: t.TempDir()}
	if small {
		b.disk = barreltest.SmallDisk(t, "96m")
	}
	ca := certtest.New(t)
	scheme := "http://"
	if secure {
		scheme = "https://"
		own := ca.Settings(certs.Required, access.Operator, "alice").TLS
		b.flags = []string{"--ca", own.CA, "--cert", own.Cert, "--key", own.Key}
		b.cfg.TLS = ca.Settings(certs.Both, access.Balancer, "balancer-0").TLS
	}
	for i := range b.slave {
		s := &b.slave[i]
		s.Listen, s.Admin, s.Dir = porttest.Address(t), porttest.Address(t), filepath.Join(b.disk, s.Name)
		if secure {
			s.TLS = ca.Settings(certs.Both, access.Slave, s.Name).TLS
		}
	}
	b.startBalancer()
	b.startSlave(0)
	b.startSlave(1)
	b.url = b.startMaster()
	b.admins = []string{b.health, scheme + b.slave[0].Admin, scheme + b.slave[1].Admin}
	w.follows(b.url)
	eventually(t, "nothing is wrong at first", func() bool { return strings.HasPrefix(b.doctor(), "Nothing is wrong.") })
	return b
}

// start starts a slave that need not listen.
func (b *broken) start(i int) {
	b.slave[i].Balancer = b.cfg.Listen
	b.parts[b.slave[i].Name] = start(b.t, "slave", b.slave[i])
}

// ends starts a slave that is expected to end, and returns what it said.
func (b *broken) ends(i int) string {
	cfg := b.slave[i]
	cfg.Balancer = b.cfg.Listen
	_, said := startToFail(b.t, "slave", cfg)
	return said
}

// commandEnds runs `adshard slave` with more lines in the configuration of slave 1, and returns what it said.
func (b *broken) commandEnds(more string) string {
	file := filepath.Join(b.t.TempDir(), "slave-1.yaml")
	b.world.must(config.WriteFile(file, b.slave[1]))
	text, err := os.ReadFile(file)
	b.world.must(err)
	text = regexp.MustCompile(`(?m)^(grace|balancer):.*\n`).ReplaceAll(text, nil)
	b.world.must(os.WriteFile(file, append(text, more...), 0o600))
	var out bytes.Buffer
	cli.Main(b.t.Context(), "adshard", []string{"slave", "--config", file}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
	return out.String()
}

// doctor returns what the doctor prints.
func (b *broken) doctor() string {
	var out, errOut bytes.Buffer
	args := []string{"doctor", "--addr", b.admin, "--http", b.url, "--admins", strings.Join(b.admins, ",")}
	cli.Main(b.t.Context(), "adshard", append(args, b.flags...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errOut})
	return out.String() + errOut.String()
}

// named waits until the doctor has one finding, which is that of the breakage.
func (b *broken) named(k breakage) (out string) {
	b.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		out = b.doctor()
		_, first, one := strings.Cut(out, "One thing is wrong:\n\n1. ")
		first, rest, _ := strings.Cut(first, "\n")
		do, _, _ := strings.Cut(rest, "\n")
		if one && strings.Contains(first, k.first) && strings.Contains(do, k.advice) {
			return out
		}
	}
	b.t.Fatalf("not named: %s", out)
	return ""
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

var clockLine = regexp.MustCompile(`(?m)^(adshard_clock_seconds\{[^}]*\}) (\S+)$`)

// late returns the address of a port that shows the metrics of another one as if its machine's clock were an hour behind: the clock of a
// single process cannot be set.
func late(t *testing.T, admin string) string {
	to, err := url.Parse(admin)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Header.Del("Accept-Encoding") }}
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)
	proxy.ModifyResponse = func(r *http.Response) error {
		page, err := io.ReadAll(r.Body)
		page = clockLine.ReplaceAllFunc(page, func(line []byte) []byte {
			m := clockLine.FindSubmatch(line)
			at, _ := strconv.ParseFloat(string(m[2]), 64)
			return fmt.Appendf(nil, "%s %f", m[1], at-3600)
		})
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(page)), int64(len(page))
		r.Header.Set("Content-Length", strconv.Itoa(len(page)))
		return err
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}
