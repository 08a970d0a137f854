package node

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
)

// listenOn listens on a TCP address; key is the configuration's, for errors
// that say what to change.
func listenOn(key, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.Newf(fault.Conflict, "listen",
			"%w: another process listens on %s; stop it or choose another address for %q", err, address, key)
	case errors.Is(err, syscall.EACCES):
		return nil, fault.Newf(fault.Invalid, "listen",
			"%w: this user may not listen on %s; choose a port above 1023 for %q", err, address, key)
	}
	return nil, fault.Newf(fault.Invalid, "listen", "%w: choose another address for %q", err, key)
}

// stopTime bounds how long calls under way may take when a server ends.
const stopTime = 2 * time.Second

// serveGRPC serves on l until ctx is over, then lets the calls under way
// finish.
func serveGRPC(ctx context.Context, s *grpc.Server, l net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return fault.New(fault.Unavailable, "serve", err)
	case <-ctx.Done():
	}
	hard := time.AfterFunc(stopTime, s.Stop)
	defer hard.Stop()
	s.GracefulStop()
	<-ended
	return nil
}

// servePolls serves long polls on l until ctx is over. Calls under way are cut
// off: they would hold a graceful stop up, and who asked asks again.
func servePolls(ctx context.Context, s *grpc.Server, l net.Listener) error {
	stop := context.AfterFunc(ctx, s.Stop)
	defer stop()
	if err := s.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) && ctx.Err() == nil {
		return fault.Newf(fault.Unavailable, "serve", "%w", err)
	}
	return nil
}
