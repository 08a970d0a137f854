package cli

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/node/access"
	"adshard/internal/node/admin"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
)

// TestNothingSecretIsShown plants a token and a key, and looks for them in everything that a program prints, logs and
// answers, and in its command line.
func TestNothingSecretIsShown(t *testing.T) {
	const token = "planted-secret-0123456789"
	ca := certtest.New(t)
	files := ca.Settings(certs.Required, access.Balancer, "balancer-0").TLS
	key, err := os.ReadFile(files.Key)
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{"the token": token, "the key": strings.Split(string(key), "\n")[1]}
	db := filepath.Join(t.TempDir(), "ads.db")
	if status, _, errOut := run(t, "adshard", "import", "--db", "sqlite:"+db, file(t, "ads.csv", editor)); status != exitDone {
		t.Fatal(status, errOut)
	}
	args := []string{"--db", "sqlite:" + db, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-level", "debug", "--slaves", "1",
		"--tls-mode", certs.Required, "--tls-cert", files.Cert, "--tls-key", files.Key, "--tls-ca", files.CA,
		"--tokens", ca.Write("tokens", []byte("operator alice "+token+"\n"))}
	shown := make(map[string]string)
	_, printed, _ := run(t, "balancer", append(args, "--print-config")...)
	shown["--print-config"], shown["the command line"] = printed, strings.Join(args, " ")

	out, errOut := new(lockedBuffer), new(lockedBuffer)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- Main(ctx, "balancer", args, Streams{Out: out, Err: errOut}) }()
	address := ""
	for end := time.Now().Add(time.Minute); address == "" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, rest, ok := strings.Cut(out.String(), "admin "); ok {
			address, _, _ = strings.Cut(rest, "\n")
		}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: time.Minute}
	for pattern, methods := range admin.Routes() {
		for _, method := range methods {
			path := strings.NewReplacer("{id}", "1", "{name}", "slave-1", "{slice}", "1", "profile", "profile?seconds=1", "trace", "trace?seconds=1").Replace(pattern)
			for _, bearer := range []string{token, token + "x", ""} {
				r, err := http.NewRequestWithContext(t.Context(), method, address+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+bearer)
				res, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil {
					t.Fatal(err)
				}
				shown[method+" "+path+" with "+bearer[:min(len(bearer), 3)]] += string(body)
			}
		}
	}
	client.CloseIdleConnections()
	cancel()
	if status := <-ended; status != exitDone {
		t.Errorf("exit status %d: %s", status, errOut)
	}
	shown["the output"], shown["the log"] = out.String(), errOut.String()
	if !strings.Contains(errOut.String(), "alice") || !strings.Contains(shown["GET /metrics with pla"], "adshard_certificate_left_seconds") {
		t.Errorf("the log does not name the operator, or metrics are missing:\n%s", errOut)
	}
	for where, text := range shown {
		for what, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s", where, what)
			}
		}
	}
}

// TestATokenThatOthersCanReadIsRefused: anyone who can read a token can do what its owner can.
func TestATokenThatOthersCanReadIsRefused(t *testing.T) {
	path := file(t, "token", "planted-secret-0123456789")
	for mode, says := range map[os.FileMode]string{0o644: "chmod 600", 0o600: "connect"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		status, _, errOut := run(t, "adshard", "balance", "status", "--addr", "127.0.0.1:1", "--token-file", path)
		if status == exitDone || !strings.Contains(errOut, says) || strings.Contains(errOut, "planted") {
			t.Errorf("%v: %d %q", mode, status, errOut)
		}
	}
}

// TestACertificateNeedsItsKey: a certificate without a key is refused, and a key without a certificate.
func TestACertificateNeedsItsKey(t *testing.T) {
	for _, flag := range []string{"--cert", "--key"} {
		status, _, errOut := run(t, "adshard", "balance", "status", flag, "x")
		if status != exitUsage || !strings.Contains(errOut, "--cert and --key") {
			t.Errorf("%s: %d %q", flag, status, errOut)
		}
	}
}

// TestNoErrorShowsAPassword: an error does not repeat a refused URL, since it may have a password.
func TestNoErrorShowsAPassword(t *testing.T) {
	const secret, of = "planted-secret", "root:planted-secret@db.example/ads"
	for _, args := range [][]string{
		{"adshard", "backup", "--db", "postgres://" + of, "--out", t.TempDir() + "/b"},
		{"adshard", "restore", "--db", "postgres://" + of, "--from", t.TempDir()},
		{"adshard", "import", "--db", "postgresl://" + of, "-"},
		{"adshard", "import", "--db", "postgres://" + of, "-"},
		{"adshard", "db", "check", "--db", "mysql://" + of},
		{"adshard", "db", "migrate", "--from", "mysql://" + of, "--to", "sqlite:x.db"},
		{"adshard", "up", "--db", "mysql://" + of},
		{"balancer", "--db", "mysql://" + of},
		{"balancer", "--db", "sqlite:x.db", "--control", "etcd://root:" + secret + "@10.0.0.5:2379"},
		{"balancer", "--db", "sqlite:x.db", "--control", "http://root:" + secret + "@10.0.0.5:2379"},
	} {
		status, out, errOut := run(t, args[0], args[1:]...)
		if status == exitDone || errOut == "" {
			t.Errorf("%v: exit status %d, %q", args, status, errOut)
		}
		if strings.Contains(out+errOut, secret) {
			t.Errorf("%v: %s%s", args, out, errOut)
		}
	}
}

// TestNoConfigShowsAPassword: a printed configuration has no password, wherever it came from, and is otherwise the
// given one.
func TestNoConfigShowsAPassword(t *testing.T) {
	for given, want := range map[string]string{
		"postgres://root:planted-secret@db.example/ads":                       "db: postgres://root:xxxxx@db.example/ads\n",
		"postgres://root:planted/sec@ret@db.example/ads?application_name=a@b": "db: postgres://root:xxxxx@db.example/ads?application_name=a@b\n",
		"postgres://db.example/ads?password=planted-secret&sslmode=require":   "db: postgres://db.example/ads?password=xxxxx&sslmode=require\n",
		"postgres://root@db.example:5432/ads?application_name=a@b":            "db: postgres://root@db.example:5432/ads?application_name=a@b\n",
		"sqlite:/var/lib/ads.db":                                              "db: sqlite:/var/lib/ads.db\n",
	} {
		t.Setenv("ADSHARD_DB", given)
		t.Setenv("ADSHARD_EVENTS", given+"-events")
		if _, out, _ := run(t, "adshard", "collector", "--print-config"); !strings.Contains(out, want) || strings.Contains(out, "planted") {
			t.Errorf("%s: %s", given, out)
		}
	}
}

// lockedBuffer is a buffer that one goroutine reads while others write.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns what was written.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
