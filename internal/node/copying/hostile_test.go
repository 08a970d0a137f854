package copying

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"adshard/barrels"
	"adshard/barrels/rocks"
	"adshard/fault"
	"adshard/internal/node/hostiletest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
)

func openRequest(token string) *pb.OpenCopyRequest {
	format, words := barrels.Versions(0)
	return &pb.OpenCopyRequest{Token: token, Name: "slave-9", Format: format, Words: words}
}

// TestAClientThatNeverReturns: a client that never returns holds a checkpoint and the log for a limited time only. After
// that, others can copy.
func TestAClientThatNeverReturns(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	r.cfg.Most = 1
	source := r.source()
	m, err := source.Open(t.Context(), openRequest("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := source.Open(t.Context(), openRequest("0123456789abcdef"))
	if err != nil || again.GetLease() != m.GetLease() {
		t.Fatalf("the same client has another checkpoint: %v, %v", again, err)
	}
	if _, err := source.Open(t.Context(), openRequest("fedcba9876543210")); !fault.Is(err, fault.Overloaded) {
		t.Fatalf("one more than there may be: %v", err)
	}
	source.sweep(time.Now().Add(r.cfg.Idle - time.Second))
	if n, _ := source.State(); n != 1 {
		t.Fatal("given up too early")
	}
	source.sweep(time.Now().Add(r.cfg.Idle + time.Second))
	if left, err := os.ReadDir(filepath.Join(r.dir, checkpointsDir)); err != nil || len(left) != 0 {
		t.Fatalf("left: %v, %v", left, err)
	}
	if _, err := source.Read(t.Context(), &pb.ReadCopyRequest{Lease: m.GetLease()}); !fault.Is(err, fault.NotFound) {
		t.Fatalf("read from what was given up: %v", err)
	}
	if _, err := source.Open(t.Context(), openRequest("fedcba9876543210")); err != nil {
		t.Fatal(err)
	}
	source.sweep(time.Now().Add(r.cfg.Linger + time.Second)) // gives up the log of the first client, and the idle second one
	source.sweep(time.Now().Add(2 * (r.cfg.Linger + time.Second)))
	if n := r.holds.Load(); n != 0 {
		t.Fatalf("the log is held %d times", n)
	}
	// A client that calls all the time is also ended.
	other, err := source.Open(t.Context(), openRequest("fedcba9876543210"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range source.leases {
		l.began = l.began.Add(-r.cfg.Age - time.Second)
	}
	// The log is empty at first in RocksDB 11.
	file := slices.IndexFunc(other.GetFiles(), func(f *pb.CopyFile) bool { return f.GetSize() > 0 })
	if _, err := source.Read(t.Context(), &pb.ReadCopyRequest{Lease: other.GetLease(), File: uint32(file)}); err != nil {
		t.Fatal(err)
	}
	source.sweep(time.Now())
	if n, _ := source.State(); n != 0 {
		t.Fatal("it holds its checkpoint for good")
	}
}

// TestARestartedSourceLeavesNothing: a restarted source removes the checkpoints of its crashed predecessor.
func TestARestartedSourceLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	if _, err := r.source().Open(t.Context(), openRequest("0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	restarted := r.source()
	if _, err := os.Stat(filepath.Join(r.dir, checkpointsDir)); !os.IsNotExist(err) {
		t.Fatalf("left behind: %v", err)
	}
	if _, err := restarted.Open(t.Context(), openRequest("0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := restarted.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, checkpointsDir)); !os.IsNotExist(err) {
		t.Fatalf("left behind at the end: %v", err)
	}
}

// TestRequestsThatAreWrong: invalid requests are refused and hold no checkpoint.
func TestRequestsThatAreWrong(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	source := r.source()
	open := func(change func(*pb.OpenCopyRequest)) error {
		q := openRequest("0123456789abcdef")
		change(q)
		_, err := source.Open(t.Context(), q)
		return err
	}
	older := metadata.NewIncomingContext(t.Context(), metadata.Pairs("adshard-version", strconv.Itoa(wire.VersionData-1)))
	_, errOlder := source.Open(older, openRequest("0123456789abcdef"))
	for name, c := range map[string]struct {
		err  error
		kind fault.Kind
	}{
		"an older program": {errOlder, fault.Version},
		"no token":         {open(func(q *pb.OpenCopyRequest) { q.Token = "short" }), fault.Invalid},
		"another database": {open(func(q *pb.OpenCopyRequest) { q.Database = "another" }), fault.Conflict},
		"an older format":  {open(func(q *pb.OpenCopyRequest) { q.Format -= 2 }), fault.Version},
		"other words":      {open(func(q *pb.OpenCopyRequest) { q.Words = "none" }), fault.Version},
	} {
		if !fault.Is(c.err, c.kind) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	r.lacks = "slice 7 is being refilled"
	if err := open(func(*pb.OpenCopyRequest) {}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "slice 7") {
		t.Errorf("a store that lacks something: %v", err)
	}
	r.lacks = ""
	if n, _ := source.State(); n != 0 || r.holds.Load() != 0 {
		t.Fatalf("%d checkpoints, %d holds", n, r.holds.Load())
	}
	m, err := source.Open(t.Context(), openRequest("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []*pb.ReadCopyRequest{
		{Lease: m.Lease, File: uint32(len(m.Files))}, {Lease: m.Lease, File: ^uint32(0)},
		{Lease: m.Lease, Piece: 1 << 20}, {Lease: m.Lease, Piece: ^uint32(0)},
	} {
		if _, err := source.Read(t.Context(), q); !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", q, err)
		}
	}
	if _, err := source.Sums(t.Context(), &pb.CopySumsRequest{Lease: m.Lease, File: 1 << 30}); !fault.Is(err, fault.Invalid) {
		t.Errorf("sums of no file: %v", err)
	}
	if _, err := source.Sums(t.Context(), &pb.CopySumsRequest{Lease: m.Lease + 2}); !fault.Is(err, fault.NotFound) {
		t.Errorf("sums of no lease: %v", err)
	}
}

// TestWhoMayCopy: processes on the same machine may copy, or only the listed addresses if there is a list.
func TestWhoMayCopy(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	for _, c := range []struct {
		trusted []string
		from    string
		may     bool
	}{
		{nil, "127.0.0.1:99", true},
		{nil, "[::1]:99", true},
		{nil, "[::ffff:127.0.0.1]:99", true},
		{nil, "10.0.0.8:99", false},
		{nil, "@", false},
		{[]string{"10.0.0.8"}, "10.0.0.8:99", true},
		{[]string{"10.0.0.8"}, "[::ffff:10.0.0.8]:99", true},
		{[]string{"10.0.0.8"}, "10.0.0.9:99", false},
		{[]string{"10.0.0.8"}, "127.0.0.1:99", false},
		{[]string{"10.1.0.0/16", "fd00::/8"}, "10.1.255.3:99", true},
		{[]string{"10.1.0.0/16", "fd00::/8"}, "[fd00::7]:99", true},
		{[]string{"10.1.0.0/16", "fd00::/8"}, "[fe80::7]:99", false},
	} {
		var err error
		if r.cfg.Trusted, err = ParseTrusted(c.trusted); err != nil {
			t.Fatal(err)
		}
		source := r.source()
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: address(c.from)})
		_, err = source.Open(ctx, openRequest("0123456789abcdef"))
		if c.may && err != nil || !c.may && !fault.Is(err, fault.Conflict) {
			t.Errorf("%s, trusted %v: %v", c.from, c.trusted, err)
		}
		for _, l := range source.leases {
			if _, err := source.Read(peer.NewContext(t.Context(), &peer.Peer{Addr: address("192.0.2.1:5")}), &pb.ReadCopyRequest{Lease: l.id}); !fault.Is(err, fault.Conflict) {
				t.Errorf("a stranger reads: %v", err)
			}
		}
	}
	for _, bad := range []string{"host-1", "10.0.0.0/33", ""} {
		if _, err := ParseTrusted([]string{bad}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

type address string

func (a address) Network() string { return "tcp" }
func (a address) String() string  { return string(a) }

var _ net.Addr = address("")

// offering returns a source whose offer `change` changes; reading is the same for its data.
func offering(honest pb.CopiesClient, change func(*pb.OpenCopyResponse)) *tampered {
	return &tampered{CopiesClient: honest, open: func(m *pb.OpenCopyResponse, err error) (*pb.OpenCopyResponse, error) {
		if err == nil {
			change(m)
		}
		return m, err
	}}
}

func reading(honest pb.CopiesClient, change func(*pb.ReadCopyResponse)) *tampered {
	return &tampered{CopiesClient: honest, read: func(_ *pb.ReadCopyRequest, m *pb.ReadCopyResponse, err error) (*pb.ReadCopyResponse, error) {
		if err == nil {
			change(m)
		}
		return m, err
	}}
}

// brokenRule is a source that breaks a rule, and the kind of error that is expected.
type brokenRule struct {
	source *tampered
	kind   fault.Kind
}

func brokenRules(honest pb.CopiesClient) map[string]brokenRule {
	offer := func(change func(*pb.OpenCopyResponse)) *tampered { return offering(honest, change) }
	read := func(change func(*pb.ReadCopyResponse)) *tampered { return reading(honest, change) }
	cases := map[string]brokenRule{
		"endless files":      {offer(func(m *pb.OpenCopyResponse) { m.Files[0].Size = 1 << 62 }), fault.Invalid},
		"more than the disk": {offer(func(m *pb.OpenCopyResponse) { m.Files[0].Size = 1 << 40 }), fault.NoSpace},
		"sizes that overflow": {offer(func(m *pb.OpenCopyResponse) {
			for i := range 1 << 15 {
				m.Files = append(m.Files, &pb.CopyFile{Name: fmt.Sprintf("%d.sst", 1<<30+i), Size: 1 << 40})
			}
		}), fault.NoSpace},
		"a file twice":     {offer(func(m *pb.OpenCopyResponse) { m.Files = append(m.Files, m.Files[0]) }), fault.Invalid},
		"no CURRENT":       {offer(func(m *pb.OpenCopyResponse) { m.Files = m.Files[:1] }), fault.Invalid},
		"no files":         {offer(func(m *pb.OpenCopyResponse) { m.Files = nil }), fault.Invalid},
		"no position":      {offer(func(m *pb.OpenCopyResponse) { m.Position = nil }), fault.Invalid},
		"another position": {offer(func(m *pb.OpenCopyResponse) { m.Position.Clock++ }), fault.Corrupt},
		"another builder":  {offer(func(m *pb.OpenCopyResponse) { m.Builder++ }), fault.Corrupt},
		"a newer format":   {offer(func(m *pb.OpenCopyResponse) { m.Format += 2 }), fault.Version},
		"other words":      {offer(func(m *pb.OpenCopyResponse) { m.Words = "" }), fault.Version},
		"too much": {read(func(m *pb.ReadCopyResponse) {
			m.Data = append(m.Data, 1)
			m.Sum = sumOf(m.Data)
		}), fault.Invalid},
		"too little": {read(func(m *pb.ReadCopyResponse) {
			m.Data = m.Data[1:]
			m.Sum = sumOf(m.Data)
		}), fault.Invalid},
		"garbage": {read(func(m *pb.ReadCopyResponse) {
			for i := range m.Data {
				m.Data[i] = byte(i)
			}
			m.Sum = sumOf(m.Data)
		}), fault.Corrupt},
	}
	for _, size := range []uint64{math.MaxUint64, 1 << 63, 1<<63 - 1} { // negative as int64, or overflowing when added to any other size
		cases[fmt.Sprint("a size of ", size)] = brokenRule{offer(func(m *pb.OpenCopyResponse) { m.Files[0].Size = size }), fault.Invalid}
	}
	for _, ending := range []string{"CURRENT", "MANIFEST-", ".sst"} {
		cases["no bytes of "+ending] = brokenRule{offer(func(m *pb.OpenCopyResponse) { named(m, ending).Size = 0 }), fault.Corrupt}
	}
	for _, name := range []string{"../000007.sst", "../../000007.sst", "/etc/passwd", "a/b.sst", "..", "", "token", "CURRENT.part", "adshard.lock", "IDENTITY", "000007.sst\x00", "000007.SST",
		"LOCK", "OPTIONS-000007", "instance", "copy.lock", "current", "CURRENT/", "CURRENT\n", "./CURRENT", "manifest-000004", "MANIFEST-", "MANIFEST-4/../x",
		"000007.sst/", "\u0660.sst", "-7.sst", "+7.sst", "000007.log.part", strings.Repeat("0", 21) + ".sst", strings.Repeat("x", 300)} {
		cases["the name "+name] = brokenRule{offer(func(m *pb.OpenCopyResponse) { m.Files[0].Name = name }), fault.Invalid}
	}
	return cases
}

// named returns the first file whose name contains a text.
func named(m *pb.OpenCopyResponse, text string) *pb.CopyFile {
	return m.Files[slices.IndexFunc(m.Files, func(f *pb.CopyFile) bool { return strings.Contains(f.Name, text) })]
}

// TestASourceThatBreaksTheRules: nothing is written outside the directory for incoming files, and no copy from such a source
// is ever opened as a store.
func TestASourceThatBreaksTheRules(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 3)
	r.cfg.Most = 100
	honest := dial(t, serve(t, r.source()))
	for name, c := range brokenRules(honest) {
		t.Run(strings.ReplaceAll(name, "/", "|"), func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "copy")
			if _, err := Fill(t.Context(), config(dir), c.source); !fault.Is(err, c.kind) {
				t.Fatalf("got %v, want %v", err, c.kind)
			}
			if rocks.Exists(dir) {
				t.Fatal("it is taken for a store")
			}
			if entries, err := os.ReadDir(above); err != nil || len(entries) != 1 {
				t.Fatalf("beside the directory: %v, %v", entries, err)
			}
		})
	}
	t.Run("wrong sums", func(t *testing.T) { refuseWrongSums(t, honest) })
	wanted := config(t.TempDir())
	wanted.Database = "mine"
	foreign := offering(honest, func(m *pb.OpenCopyResponse) { m.Database = "yours" })
	if _, err := Fill(t.Context(), wanted, foreign); !fault.Is(err, fault.Conflict) {
		t.Errorf("another database: %v", err)
	}
}

// TestASourceThatLiesInAnyField: a source lies in any one field of its offer, of a piece or of sums. Either the copy fails,
// or it equals the source's store. Nothing else in the directory or beside it is touched, and an honest source can fill it
// afterwards.
func TestASourceThatLiesInAnyField(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	r.cfg.Most = 1000
	honest := dial(t, serve(t, r.source()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	offered, err := honest.Open(ctx, openRequest("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	above := t.TempDir()
	neighbour := filepath.Join(above, "000007.sst")
	if err := os.WriteFile(neighbour, []byte("of another"), 0o600); err != nil {
		t.Fatal(err)
	}
	tried := 0
	try := func(field string, liar *tampered) {
		tried++
		dir := filepath.Join(above, "copy")
		cfg := config(dir)
		cfg.Patience = 200 * time.Millisecond
		_, err := Fill(t.Context(), cfg, liar)
		if err == nil { // a slave would open the copy now
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		}
		if fault.Is(err, fault.Internal) || fault.Is(err, fault.Deadline) {
			t.Errorf("%s: %v", field, err)
		}
	}
	hostiletest.Each(offered, func(field string, m proto.Message) {
		lie := m.(*pb.OpenCopyResponse)
		try(field, offering(honest, func(o *pb.OpenCopyResponse) {
			if field != "lease" {
				lie.Lease = o.GetLease()
			}
			proto.Reset(o)
			proto.Merge(o, lie)
		}))
	})
	if text, err := os.ReadFile(neighbour); err != nil || string(text) != "of another" {
		t.Errorf("a file beside the directory: %q, %v", text, err)
	}
	if _, err := Fill(t.Context(), config(filepath.Join(above, "copy")), honest); err != nil {
		t.Errorf("of an honest source: %v", err)
	}
	if entries, err := os.ReadDir(above); err != nil || len(entries) != 2 {
		t.Errorf("beside the directory: %v, %v", entries, err)
	}
	if tried < 50 {
		t.Errorf("%d lies were tried", tried)
	}
}

// TestASourceThatGivesNothing: a source either loses its checkpoint before each next call, or returns sums of an interrupted
// copy but no pieces. The client leaves it for another one when its patience ends.
func TestASourceThatGivesNothing(t *testing.T) {
	t.Parallel()
	r := newSlave(t, 2)
	r.cfg.Most = 1000
	honest := dial(t, serve(t, r.source()))
	lost := fault.Newf(fault.NotFound, "test", "the checkpoint is gone")
	for name, interrupted := range map[string]bool{"nothing is there": false, "an interrupted copy is there": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if interrupted {
				interrupt(t, honest, dir)
			}
			rounds := 0
			liar := &tampered{CopiesClient: honest,
				open: func(m *pb.OpenCopyResponse, err error) (*pb.OpenCopyResponse, error) { rounds++; return m, err },
				read: func(*pb.ReadCopyRequest, *pb.ReadCopyResponse, error) (*pb.ReadCopyResponse, error) { return nil, lost }}
			cfg := config(dir)
			cfg.Patience = 500 * time.Millisecond
			if _, err := Fill(t.Context(), cfg, liar); !fault.Is(err, fault.NotFound) {
				t.Errorf("after %d rounds: %v", rounds, err)
			}
			if _, err := Fill(t.Context(), config(dir), honest); err != nil {
				t.Errorf("of an honest source: %v", err)
			}
		})
	}
}

// interrupt starts to fill a directory and stops after some pieces.
func interrupt(t *testing.T, honest pb.CopiesClient, dir string) {
	t.Helper()
	interrupted := &tampered{CopiesClient: honest, before: func(call int) error {
		if call > 6 {
			return fault.Newf(fault.Internal, "test", "enough")
		}
		return nil
	}}
	if _, err := Fill(t.Context(), config(dir), interrupted); err == nil {
		t.Fatal("it was not interrupted")
	}
}

// refuseWrongSums checks that an interrupted copy is continued with the source's sums, and that too many sums are refused.
func refuseWrongSums(t *testing.T, honest pb.CopiesClient) {
	t.Helper()
	dir := t.TempDir()
	interrupt(t, honest, dir)
	liar := &tampered{CopiesClient: honest, sums: func(m *pb.CopySumsResponse, err error) (*pb.CopySumsResponse, error) {
		m.Sums = append(m.Sums, 7)
		return m, err
	}}
	if _, err := Fill(t.Context(), config(dir), liar); !fault.Is(err, fault.Invalid) {
		t.Fatal(err)
	}
}
