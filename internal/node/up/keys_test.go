package up

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"adshard/internal/node/collector"
	"adshard/internal/node/doctor"
)

// safeLog is a log that several goroutines write and read.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *safeLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// testStateKeys: a collector beside the cluster that has the cluster's state key is fine; one with another has different keys than the
// master, which it and doctor say, and neither shows what the keys are.
func (c *cluster) testStateKeys(t *testing.T, cfg Config, own string) {
	for _, s := range []struct {
		key  string
		fine bool
	}{{own, true}, {collector.DefaultConfig().StateKey, false}} {
		beside := collector.DefaultConfig()
		beside.Name, beside.DB, beside.HTTP, beside.Admin, beside.StateKey = "beside", cfg.DB, loopback, loopback, s.key
		var log safeLog
		out, printed := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- collector.Run(ctx, beside, printed, slog.New(slog.NewTextHandler(&log, nil)))
			_ = printed.Close()
		}()
		text := bufio.NewScanner(out)
		if !text.Scan() {
			t.Fatalf("it ends: %v", <-ended)
		}
		admin := strings.TrimPrefix(text.Text(), "admin ")
		go func() {
			for text.Scan() { // until it ends
			}
		}()
		look := &doctor.Look{At: time.Now()}
		for began := time.Now(); ; time.Sleep(50 * time.Millisecond) { // the master asks for its keys
			look.Ports = []doctor.Port{{Address: c.admin, Metrics: doctor.ReadMetrics(c.page(t, "/metrics"))},
				{Address: admin, Metrics: doctor.ReadMetrics((&cluster{admin: admin}).page(t, "/metrics"))}}
			if strings.Contains(c.page(t, "/metrics"), `of="master"`) {
				break
			}
			if time.Since(began) > patience {
				t.Fatal("the master tells of no key")
			}
		}
		found := false
		for _, f := range doctor.Examine(look, look, nil) {
			found = found || f.Node == "beside" && strings.Contains(f.Do, "state_key")
		}
		if said := strings.Contains(log.String(), "state_key="+s.key); found == s.fine || said == s.fine {
			t.Errorf("state key %s: doctor says so: %v, the collector: %v\n%s", s.key, found, said, log.String())
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
