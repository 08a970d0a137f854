package certs

import (
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// Refusal is a connection or call of another part of the cluster that was refused.
type Refusal struct {
	// Name is the caller's name by its certificate, or "" if that was not accepted; From is its host.
	Name, From string
	Why        string
	at         time.Time
}

// mostLately bounds the refusals that are remembered; strangers may call, too.
const mostLately = 16

// lately remembers the newest refusal of each caller.
type lately struct {
	mu   sync.Mutex
	list map[string]Refusal // by name and host; guarded by mu
}

func (l *lately) note(name, from string, err error) {
	if host, _, splitErr := net.SplitHostPort(from); splitErr == nil {
		from = host
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := name + "\x00" + from
	if _, known := l.list[key]; !known && len(l.list) >= mostLately {
		oldest := ""
		for k, r := range l.list {
			if oldest == "" || r.at.Before(l.list[oldest].at) {
				oldest = k
			}
		}
		delete(l.list, oldest)
	}
	if l.list == nil {
		l.list = make(map[string]Refusal)
	}
	l.list[key] = Refusal{Name: name, From: from, Why: err.Error(), at: time.Now()}
}

// Refused returns what was refused within the last time, by name and host.
func (c *Credentials) Refused(within time.Duration) (list []Refusal) {
	if c == nil {
		return nil
	}
	c.last.mu.Lock()
	defer c.last.mu.Unlock()
	for _, key := range slices.SortedFunc(maps.Keys(c.last.list), strings.Compare) {
		if r := c.last.list[key]; time.Since(r.at) <= within {
			list = append(list, r)
		}
	}
	return list
}
