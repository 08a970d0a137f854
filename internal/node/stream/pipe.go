package stream

import (
	"context"
	"io"

	"google.golang.org/grpc"

	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Pipe carries frames to a peer and back. Sending and receiving do not wait for each
// other; of each there is one at a time. Both end with an error when the context of
// the stream does.
type Pipe interface {
	// Send sends a frame, which its caller may use again; it waits while too much of
	// what was sent has not been taken by the peer.
	Send(frame wire.Frame) error
	// CloseSend ends what is sent; a slave's does nothing.
	CloseSend() error
	// Receive returns the next frame, which is its caller's; io.EOF: the peer has
	// ended in order.
	Receive() (wire.Frame, error)
}

// Opener opens a stream to a slave, until ctx is done.
type Opener func(ctx context.Context) (Pipe, error)

// Over returns the Opener of streams over gRPC.
func Over(slave pb.SlaveClient) Opener {
	return func(ctx context.Context) (Pipe, error) {
		s, err := slave.Stream(ctx)
		if err != nil {
			return nil, wire.FromStatus(err)
		}
		return clientPipe{s}, nil
	}
}

type clientPipe struct{ grpc.ClientStream }

// Send implements Pipe.
func (p clientPipe) Send(frame wire.Frame) error { return wire.FromStatus(p.SendMsg(frame)) }

// Receive implements Pipe.
func (p clientPipe) Receive() (frame wire.Frame, err error) {
	if err = p.RecvMsg(&frame); err != nil && err != io.EOF {
		err = wire.FromStatus(err)
	}
	return frame, err
}

// ServerPipe is the Pipe of a slave over gRPC.
type ServerPipe struct{ grpc.ServerStream }

// Send implements Pipe.
func (p ServerPipe) Send(frame wire.Frame) error { return p.SendMsg(frame) }

// CloseSend implements Pipe.
func (p ServerPipe) CloseSend() error { return nil }

// Receive implements Pipe.
func (p ServerPipe) Receive() (frame wire.Frame, err error) {
	err = p.RecvMsg(&frame)
	return frame, err
}
