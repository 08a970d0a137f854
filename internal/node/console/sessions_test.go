package console_test

import (
	"testing"
)

// TestSessionsOfAToken: signing in repeatedly ends the oldest sessions of the same token, and no other
// sessions.
func TestSessionsOfAToken(t *testing.T) {
	p := newPort(t, true)
	operator := &browser{t: t, port: p}
	signIn(t, operator, operatorToken)
	var readers []*browser
	for range 50 {
		b := &browser{t: t, port: p}
		signIn(t, b, readerToken)
		readers = append(readers, b)
	}
	for i, b := range readers {
		want := 401
		if i >= 30 { // at most twenty sessions for each token
			want = 200
		}
		has(t, b.get("/console/overview"), want)
	}
	has(t, operator.get("/console/overview"), 200)
}
