package lucene

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"adshard/bench/layouts"
	"adshard/bench/peers/server"
)

// store is a running Monitor.
type store struct {
	process *server.Process
	sockets string // the directory of the socket
}

func (s *store) socket() string { return filepath.Join(s.sockets, "s") }

// ready waits until the Monitor is loaded and warm.
func (s *store) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		if c, err := net.Dial("unix", s.socket()); err == nil {
			return c.Close()
		}
		select {
		case <-s.process.Ended():
			return s.process.Failure(errors.New("it ended at its start"))
		case <-ctx.Done():
			return ctx.Err()
		case <-again.C:
		}
	}
}

// Searcher implements layouts.Store.
func (s *store) Searcher() (layouts.Searcher, error) {
	out := &searcher{store: s}
	return out, out.open()
}

// Size implements layouts.Store. Nothing is stored on disk.
func (s *store) Size() (layouts.Size, error) {
	memory, err := s.process.Memory()
	return layouts.Size{Memory: memory}, err
}

// Close implements layouts.Store.
func (s *store) Close() error {
	return errors.Join(s.process.Stop(syscall.SIGTERM), os.RemoveAll(s.sockets))
}
