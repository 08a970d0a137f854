package ports

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/conns"
)

// Listen listens on a TCP address. `key` is the setting with the address, and the name of its flag, for errors
// that say what to change. Connections are counted in pool.
func Listen(pool *conns.Pool, key, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenFault(key, address, err)
	}
	return pool.Listener(l), nil
}

// listenFault returns an error that says why it is not possible to listen on an address, and what to change.
func listenFault(key, address string, err error) error {
	const op = "listen"
	host, _, _ := net.SplitHostPort(address)
	var lookup *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fault.Newf(fault.Conflict, op,
			"%w: another process listens on %s; stop it or choose another address with --%s", err, address, key)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return fault.Newf(fault.Invalid, op,
			"%w: ports below 1024 need privileges that this user does not have; choose a higher port with --%s", err, key)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fault.Newf(fault.Invalid, op,
			"%w: %s is not an address of this machine; choose one of its own with --%s (`ip address` lists them), or :PORT for all of them", err, host, key)
	case errors.As(err, &lookup):
		return fault.Newf(fault.Invalid, op,
			"%w: the name %s cannot be resolved; choose an address of this machine with --%s", err, host, key)
	}
	return fault.Newf(fault.Invalid, op, "%w: choose another address with --%s", err, key)
}

// stopTime is how long calls under way may take to finish after a server is stopped.
const stopTime = 2 * time.Second

// ServeGRPC serves on l until ctx is done, and then lets the calls under way finish.
func ServeGRPC(ctx context.Context, s *grpc.Server, l net.Listener) error {
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

// ServePolls serves long polls on l until ctx is done. It cuts off calls under way, since they would delay a
// graceful stop and their callers retry.
func ServePolls(ctx context.Context, s *grpc.Server, l net.Listener) error {
	stop := context.AfterFunc(ctx, s.Stop)
	defer stop()
	if err := s.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) && ctx.Err() == nil {
		return fault.Newf(fault.Unavailable, "serve", "%w", err)
	}
	return nil
}

// Probe returns an error if a process cannot listen on an address. It accepts "", which stands for no address,
// and a port in use: the program that is being checked may be running.
func Probe(key, address string) error {
	if address == "" {
		return nil
	}
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil
	case err != nil:
		return listenFault(key, address, err)
	}
	return l.Close()
}
