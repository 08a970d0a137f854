package wire

import (
	"context"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"adshard/fault"
	"adshard/search/words"
)

// Versions of what programs say to each other. Every call carries the caller's in a
// header, every answer the server's; older programs name none, and are of version 1.
// What is added to messages needs no new version as long as it may be ignored: unknown
// fields are skipped. A new version is for messages that an older program would
// misunderstand: their sender checks PeerVersion with AtLeast first.
const (
	// Version is this program's.
	Version = 6
	// VersionData is the first whose slaves understand all that this program feeds: the
	// data of groups and campaigns, and copies of stores. Older slaves would show ads where and when their
	// campaigns' targeting does not let them.
	VersionData = 6
)

// AtLeast refuses a peer of a version below least with fault.Version; peer says who it
// is, such as "slave slave-1".
func AtLeast(op, peer string, version, least int) error {
	if version >= least {
		return nil
	}
	return fault.Newf(fault.Version, op, "the program of %s is of version %d and does not understand what one of version %d sends: update it", peer, version, least)
}

const versionHeader = "adshard-version"

// PeerVersion returns the version of the program that made the call with this context;
// this program's own if the call did not come over the network.
func PeerVersion(ctx context.Context) int {
	if in, ok := metadata.FromIncomingContext(ctx); ok {
		return versionOf(in)
	}
	return Version
}

// versionOf returns the version in a header; 1: there is none that can be read.
func versionOf(header metadata.MD) int {
	if values := header.Get(versionHeader); len(values) == 1 {
		if n, err := strconv.ParseUint(values[0], 10, 16); err == nil && n > 0 {
			return int(n)
		}
	}
	return 1
}

func ownVersion() metadata.MD {
	return metadata.Pairs(versionHeader, strconv.Itoa(Version), wordsHeader, words.Version())
}

// withVersion is the context of a call that leaves.
func withVersion(ctx context.Context) context.Context {
	return metadata.AppendToOutgoingContext(ctx, versionHeader, strconv.Itoa(Version), wordsHeader, words.Version())
}

// versionStream adds the version to the header of a stream that is opened.
func versionStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer,
	opts ...grpc.CallOption) (grpc.ClientStream, error) {
	return open(withVersion(ctx), desc, conn, method, opts...)
}
