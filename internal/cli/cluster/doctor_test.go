package cluster

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"adshard/fault"
	"adshard/internal/node/doctor"
)

// TestSilences: the kind of the error that a client returns says why a port is silent.
func TestSilences(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, c := range []struct {
		err  error
		want doctor.Silence
	}{
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), doctor.Closed},
		{dial(&net.DNSError{Err: "no such host", Name: "a.example", IsNotFound: true}), doctor.Nameless},
		{dial(&net.DNSError{Err: "i/o timeout", Name: "a.example", IsTimeout: true}), doctor.Nameless},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), doctor.CutOff},
		{dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), doctor.CutOff},
		{dial(os.ErrDeadlineExceeded), doctor.CutOff},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, doctor.Hung},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, doctor.Strange},
		{errors.New("answers 400"), doctor.Strange},
	} {
		err := fault.Newf(fault.Unavailable, "", "cannot reach it: %w", &url.Error{Op: "Get", URL: "http://a", Err: c.err})
		if got := silenceOf(err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err == nil {
		_ = res.Body.Close()
	}
	if silenceOf(err) != doctor.Hung {
		t.Errorf("of one that takes the connection: %q, %v", silenceOf(err), err)
	}
}
