package wire

import (
	"context"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"adshard/fault"
	"adshard/search/words"
)

// Versions of the messages between programs. Every call has the caller's version in a header, and every
// answer has the server's; older programs send none, and are of version 1. An addition to messages that
// may be ignored needs no new version, since unknown fields are skipped. A new version is needed for
// messages that an older program would misunderstand: their sender first checks PeerVersion with AtLeast.
const (
	// Version is the version of this program.
	Version = 6
	// VersionData is the first version whose slaves understand all data that this program sends them: the
	// data of groups and campaigns, and copies of stores. Older slaves would show ads where and when their
	// campaigns' targeting forbids it.
	VersionData = 6
)

// AtLeast returns an error if a peer's version is below `least`. `peer` says who the peer is, such as
// "slave slave-1". Errors: fault.Version.
func AtLeast(op, peer string, version, least int) error {
	if version >= least {
		return nil
	}
	return fault.Newf(fault.Version, op, "the program of %s is of version %d and does not understand what one of version %d sends: update it", peer, version, least)
}

const versionHeader = "adshard-version"

// PeerVersion returns the version of the program that made the call with this context, or this program's
// own if the call did not come over the network.
func PeerVersion(ctx context.Context) int {
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		return versionOf(in)
	}
	return Version
}

// versionOf returns the version in a header, or 1 if it has none that can be read.
func versionOf(header metadata.MD) int {
	if values := header.Get(versionHeader); len(values) == 1 {
		if n, err := strconv.ParseUint(values[0], 10, 16); err == nil && n > 0 {
			return int(n)
		}
	}
	return 1
}

func ownVersion(languages words.Languages) metadata.MD {
	return metadata.Pairs(versionHeader, strconv.Itoa(Version), wordsHeader, languages.Version())
}

// withVersion returns the context of an outgoing call, with the version in its header.
func withVersion(ctx context.Context, languages words.Languages) context.Context {
	return metadata.AppendToOutgoingContext(ctx, versionHeader, strconv.Itoa(Version), wordsHeader, languages.Version())
}

// versionStream adds the version to the header of a stream that is being opened.
func versionStream(languages words.Languages) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
		opts ...grpc.CallOption) (grpc.ClientStream, error) {
		return open(withVersion(ctx, languages), desc, conn, method, opts...)
	}
}
