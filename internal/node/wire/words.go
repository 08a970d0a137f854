package wire

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"adshard/fault"
	"adshard/schema/pb"
	"adshard/search/words"
)

// Queries and slave data carry hashes of words, which all programs must make in the same way: a slave that
// hashes differently from the master that asks it finds no keyword and no negative, and would report that as
// complete. So each call names the caller's version of words in a header, and each answer the server's.
// Calls that carry hashes fail on either side if the two differ. Streams of searches name the version in
// their hello, and buckets in NodeData.words.
//
// What an adversary, or an upgrade, could do with this:
//   - a new master asks an old slave to explain: its answer names no words and is refused;
//   - an old master asks a new slave: the request names none and is refused;
//   - a slave changes its program between a bucket and the parts of its groups: the call for
//     the part names other words.

const wordsHeader = "adshard-words"

// hashed reports whether a call, or its answer, carries hashes of words.
func hashed(method string) bool {
	switch method {
	case pb.Slave_Explain_FullMethodName, pb.Distributor_Part_FullMethodName:
		return true
	}
	return false
}

// checkedWords returns an option that refuses calls of programs with other words. It comes last among a
// server's options, so that callers that may not make a call at all are told that, and not the server's
// version.
func checkedWords(languages words.Languages) grpc.ServerOption {
	return grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if hashed(info.FullMethod) {
			if err := SameWords(info.FullMethod, "the caller", PeerWords(ctx, languages), languages); err != nil {
				return nil, err
			}
		}
		return handle(ctx, req)
	})
}

// PeerWords returns the version of words of the program that made the call with this context. It returns
// this program's own, with these languages, if the call did not come over the network, or "" if the call
// names none.
func PeerWords(ctx context.Context, languages words.Languages) string {
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		return wordsOf(in)
	}
	return languages.Version()
}

func wordsOf(header metadata.MD) string {
	if values := header.Get(wordsHeader); len(values) == 1 {
		return values[0]
	}
	return ""
}

// SameWords returns an error if a peer's version of words is not this program's with these languages.
// Errors: fault.Version.
func SameWords(op, peer, version string, languages words.Languages) error {
	own := languages.Version()
	if version == own {
		return nil
	}
	return fault.Newf(fault.Version, op, "%s", words.Differ(peer, version, "this program", own))
}
