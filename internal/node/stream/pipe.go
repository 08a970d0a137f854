package stream

import (
	"context"
	"io"

	"google.golang.org/grpc"

	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

// Pipe carries frames to a peer and back. Sending and receiving do not wait for each other; at most
// one call of each is under way. Both return an error when the context of the stream ends.
type Pipe interface {
	// Send sends a frame, which the caller may reuse afterwards. It waits while the peer has not
	// received too much of what was sent.
	Send(frame wire.Frame) error
	// CloseSend ends sending. On the slave's side it does nothing.
	CloseSend() error
	// Receive returns the next frame, which belongs to the caller. It returns io.EOF if the peer
	// has ended the stream in order.
	Receive() (wire.Frame, error)
}

// Opener opens a stream to a slave. The stream ends when ctx is done.
type Opener func(ctx context.Context) (Pipe, error)

// Over returns an Opener of streams over gRPC.
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

// ServerPipe is a slave's Pipe over gRPC.
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
