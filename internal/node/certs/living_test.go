package certs_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"

	"adshard/fault"
	"adshard/internal/node/access"
	"adshard/internal/node/certs"
	"adshard/internal/node/certs/certtest"
	"adshard/internal/node/wire"
	"adshard/schema/pb"
	"adshard/search/words"
)

// short returns credentials whose certificate expires soon.
func short(t *testing.T, ca *certtest.Cluster, role access.Role, name string) (*certs.Credentials, time.Time) {
	t.Helper()
	pair := ca.Pair(role, name, 2*time.Second)
	s := ca.Settings(certs.Required, role, name)
	s.TLS.Cert, s.TLS.Key = ca.Write(name+"-short.crt", pair.Cert), ca.Write(name+"-short.key", pair.Key)
	own, err := s.Open(role, name, quiet)
	if err != nil {
		t.Fatal(err)
	}
	both, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return own, both.Leaf.NotAfter
}

// living describes an open connection whose stream must end.
type living struct {
	server, client *certs.Credentials
	until          time.Time // the stream must not end before this time
	remove         func()    // removes a CA at that time; nil if a certificate expires
}

// lives returns one of each kind of connection.
func lives() map[string]func(*testing.T) living {
	expires := func(t *testing.T, client bool) (l living) {
		ca := certtest.New(t)
		l.server, l.client = ca.Open(certs.Required, access.Slave, "slave-1"), ca.Open(certs.Required, access.Master, "m")
		if client {
			l.client, l.until = short(t, ca, access.Master, "m")
		} else {
			l.server, l.until = short(t, ca, access.Slave, "slave-1")
		}
		return l
	}
	removes := func(t *testing.T, client bool) (l living) {
		older, newer := certtest.New(t), certtest.New(t)
		var serverAlone, clientAlone func()
		l.server, serverAlone = bundled(t, newer, older, access.Slave, "slave-1")
		l.client, clientAlone = bundled(t, older, newer, access.Master, "m")
		if l.until, l.remove = time.Now().Add(500*time.Millisecond), serverAlone; client {
			l.remove = clientAlone
		}
		return l
	}
	return map[string]func(*testing.T) living{
		"the client's expires":      func(t *testing.T) living { return expires(t, true) },
		"the server's expires":      func(t *testing.T) living { return expires(t, false) },
		"the server removes the CA": func(t *testing.T) living { return removes(t, false) },
		"the client removes the CA": func(t *testing.T) living { return removes(t, true) },
	}
}

// TestLivingStreamsEndWithTheirCertificate: a stream that is in constant use ends when the certificate of either side has
// expired or the other side no longer trusts its CA. It does not end earlier, and no other stream can be opened afterwards.
func TestLivingStreamsEndWithTheirCertificate(t *testing.T) {
	for name, begin := range lives() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := begin(t)
			conn, err := wire.DialStream(echoing(t, l.server), l.client.To("slave-1", access.Slave)...)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*lookTime)
			defer cancel()
			s, err := talk(ctx, conn)
			for err == nil && time.Now().Before(l.until.Add(-100*time.Millisecond)) {
				time.Sleep(10 * time.Millisecond)
				err = exchange(s)
			}
			if left := time.Until(l.until); err != nil && (l.remove != nil || left > 0) { // a busy machine may sleep past the end
				t.Fatalf("%v before its time: %v", left, err)
			}
			if l.remove != nil {
				l.remove()
			}
			eventually(t, "the stream ends", func() bool { err = exchange(s); return err != nil })
			if err := wire.FromStatus(err); !fault.Is(err, fault.Unavailable) {
				t.Errorf("it ends with %v", err)
			}
			again, cancelAgain := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancelAgain()
			if _, err := talk(again, conn); err == nil {
				t.Error("another one was opened")
			}
		})
	}
}

// talk opens a stream and exchanges one message on it.
func talk(ctx context.Context, conn *grpc.ClientConn) (grpc.ClientStream, error) {
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, pb.Slave_Stream_FullMethodName, grpc.WaitForReady(true))
	if err == nil {
		err = exchange(s)
	}
	return s, err
}

func exchange(s grpc.ClientStream) error {
	if err := s.SendMsg(wire.Frame("x")); err != nil && !errors.Is(err, io.EOF) { // EOF: RecvMsg says why
		return err
	}
	return s.RecvMsg(new(wire.Frame))
}

// echoing serves streams that echo, until the test ends.
func echoing(t *testing.T, own *certs.Credentials) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(wire.SlaveOptions(words.Default, nil, own.ServerOptions()...), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		for {
			var frame wire.Frame
			if err := s.RecvMsg(&frame); err != nil {
				return err
			}
			if err := s.SendMsg(frame); err != nil {
				return err
			}
		}
	}))...)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	return l.Addr().String()
}
