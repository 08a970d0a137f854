package shardserver

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"adshard/barrels/index"
	"adshard/internal/node/stream"
	"adshard/schema/pb"
)

// Stream implements pb.SlaveServer.
func (s *Server) Stream(st grpc.BidiStreamingServer[pb.MasterFrame, pb.SlaveFrame]) error {
	from := ""
	if p, ok := peer.FromContext(st.Context()); ok {
		from = p.Addr.String()
	}
	return s.streams.Serve(st.Context(), stream.ServerPipe{ServerStream: st}, from)
}

// hello identifies the slave at the beginning of a stream.
func (s *Server) hello() *pb.Hello {
	return &pb.Hello{Name: s.identity.Name, Database: index.Database(s.store.Slices()), Instance: s.identity.Instance,
		Words: s.identity.Languages.Version()}
}

// Goodbye tells masters to send nothing more over their streams, since the server is about to stop.
// Otherwise open streams would hold up a graceful stop.
func (s *Server) Goodbye() { s.streams.Goodbye() }

// Close releases what streams have used. The gRPC server must have stopped.
func (s *Server) Close() { s.streams.Close() }
