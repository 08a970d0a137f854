package token_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"adshard/events/token"
	"adshard/fault"
)

var start = time.UnixMilli(1_700_000_000_123)

func secret(n byte) []byte { return bytes.Repeat([]byte{n}, token.SecretSize) }

func ringOf(t testing.TB, keys ...token.Key) *token.Ring {
	t.Helper()
	r, err := token.NewRing(keys)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func one(t testing.TB) *token.Ring {
	return ringOf(t, token.Key{Number: 7, From: start, Secret: secret(1)})
}

func draw(t *rapid.T) token.Token {
	id := rapid.Uint64()
	return token.Token{
		Served: time.UnixMilli(rapid.Int64Range(0, 1<<32*1000-1).Draw(t, "ms")), Nonce: id.Draw(t, "nonce"),
		Position: rapid.Byte().Draw(t, "position"), Advertiser: id.Draw(t, "advertiser"), Campaign: id.Draw(t, "campaign"),
		Keyword: id.Draw(t, "keyword"), Ad: id.Draw(t, "ad"), Price: id.Draw(t, "price"), Query: id.Draw(t, "query"),
	}
}

// slow makes a token's text step by step, as docs/events.md describes it.
func slow(k token.Key, v token.Token) string {
	varint := func(n uint64) (b []byte) {
		for ; n >= 128; n >>= 7 {
			b = append(b, byte(n)|128)
		}
		return append(b, byte(n))
	}
	fixed := func(n uint64) []byte {
		b := make([]byte, 8)
		binary.BigEndian.PutUint64(b, n)
		return b
	}
	payload := bytes.Join([][]byte{{1}, varint(uint64(k.Number)), varint(uint64(v.Served.UnixMilli())), fixed(v.Nonce), {v.Position},
		varint(v.Advertiser), varint(v.Campaign), varint(v.Keyword), varint(v.Ad), varint(v.Price), fixed(v.Query)}, nil)
	h := hmac.New(sha256.New, k.Secret)
	h.Write(payload)
	return base64.RawURLEncoding.EncodeToString(append(payload, h.Sum(nil)[:16]...))
}

// TestAsSlow tests that a token is as described, and opens as what it was made from.
func TestAsSlow(t *testing.T) {
	r := one(t)
	rapid.Check(t, func(t *rapid.T) {
		v := draw(t)
		b, ok := r.Append([]byte("x"), &v)
		if want := slow(r.Keys()[0], v); !ok || string(b) != "x"+want {
			t.Fatalf("%s, want %s", b, want)
		}
		if len(b) > token.MaxText+1 {
			t.Fatalf("%d bytes", len(b))
		}
		got, id, err := r.Open(b[1:])
		if err != nil || got != v {
			t.Fatalf("%v, %v, want %v", got, err, v)
		}
		if s := v.Served.Truncate(time.Second); !id.TimeOf().Equal(s) || bytes.Compare(id[:], low(v.Served)) < 0 {
			t.Fatalf("id %x of %v", id, s)
		}
	})
}

func low(at time.Time) []byte { id := token.From(at); return id[:] }

// TestForged tests that no other text opens, whichever character is changed, removed or
// added.
func TestForged(t *testing.T) {
	r := one(t)
	v := token.Token{Served: start, Nonce: 5, Position: 2, Advertiser: 3, Campaign: 300, Keyword: 70_000, Ad: 9, Price: 1_508_572, Query: 8}
	good, _ := r.Append(nil, &v)
	for i := range good {
		for _, c := range []byte("A_-z0=\n\r ~\x00\xff") {
			bad := bytes.Clone(good)
			if bad[i] = c; c == good[i] {
				continue
			}
			refused(t, r, bad)
			refused(t, r, append(append(bytes.Clone(good[:i]), c), good[i:]...))
		}
		refused(t, r, good[:i])
	}
	other := ringOf(t, token.Key{Number: 7, From: start, Secret: secret(2)})
	if _, _, err := other.Open(good); !errors.Is(err, token.ErrForged) {
		t.Errorf("of another cluster: %v", err)
	}
	if _, _, err := ringOf(t, token.Key{Number: 8, From: start, Secret: secret(1)}).Open(good); !errors.Is(err, token.ErrUnknownKey) {
		t.Errorf("of another key: %v", err)
	}
}

func refused(t *testing.T, r *token.Ring, bad []byte) {
	t.Helper()
	if v, _, err := r.Open(bad); err == nil {
		t.Errorf("%q opens as %v", bad, v)
	}
}

// TestShortestNumbers tests that a number in more bytes than it needs is rejected, even in a
// signed payload.
func TestShortestNumbers(t *testing.T) {
	k := token.Key{Number: 7, From: start, Secret: secret(1)}
	r := ringOf(t, k)
	v := token.Token{Served: start}
	b, err := base64.RawURLEncoding.DecodeString(slow(k, v))
	if err != nil {
		t.Fatal(err)
	}
	long := append([]byte{1, 7 | 128, 0}, b[2:len(b)-16]...)
	h := hmac.New(sha256.New, k.Secret)
	h.Write(long)
	refused(t, r, []byte(base64.RawURLEncoding.EncodeToString(h.Sum(long)[:len(long)+16])))
}

// TestRotation tests that while keys change, tokens signed by a process with old keys open in
// one with new keys and the other way round, as long as the tokens are valid.
func TestRotation(t *testing.T) {
	by := token.Rotation{Every: 24 * time.Hour, Lead: 10 * time.Minute, Keep: 2 * time.Hour}
	const life, late = time.Hour, 5 * time.Minute // lifetime of a token; how old a process's keys may be
	rapid.Check(t, func(t *rapid.T) {
		now := start
		r, changed := new(token.Ring).Rotate(now, by, secret(0))
		if !changed {
			t.Fatal("no first key")
		}
		type signed struct {
			text []byte
			at   time.Time
		}
		var live []signed
		old, since := r, now
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes")) * time.Minute)
			if now.Sub(since) >= late {
				old, since = r, now
			}
			r, _ = r.Rotate(now, by, secret(byte(i+1)))
			for _, by := range []*token.Ring{old, r} {
				b, _ := by.Append(nil, &token.Token{Served: now, Nonce: uint64(i)})
				live = append(live, signed{b, now})
			}
			for _, s := range live {
				if now.Sub(s.at) > life {
					continue
				}
				for name, ring := range map[string]*token.Ring{"new": r, "old": old} {
					if _, _, err := ring.Open(s.text); err != nil {
						t.Fatalf("signed %v ago, in the %s ring: %v", now.Sub(s.at), name, err)
					}
				}
			}
			if n := len(r.Keys()); n > 4 {
				t.Fatalf("%d keys are kept", n)
			}
		}
	})
}

// TestClockGoesBack tests that rotation adds and drops nothing if the clock goes back.
func TestClockGoesBack(t *testing.T) {
	by := token.Rotation{Every: time.Hour, Lead: time.Minute, Keep: time.Hour}
	r, _ := new(token.Ring).Rotate(start, by, secret(1))
	r, _ = r.Rotate(start.Add(time.Hour), by, secret(2))
	for _, back := range []time.Duration{0, time.Minute, 1000 * time.Hour} {
		if next, changed := r.Rotate(start.Add(-back), by, secret(3)); changed || next != r {
			t.Errorf("%v back: %v", back, next.Keys())
		}
	}
}

func TestEncoded(t *testing.T) {
	r := ringOf(t, token.Key{Number: 1, From: start, Secret: secret(1)}, token.Key{Number: 4, From: start.Add(time.Hour), Secret: secret(2)})
	again, err := token.ParseRing(r.Encode())
	if err != nil || !bytes.Equal(again.Encode(), r.Encode()) {
		t.Fatalf("%v, %v", again, err)
	}
	v := token.Token{Served: start.Add(2 * time.Hour)}
	b, _ := again.Append(nil, &v)
	if want := slow(r.Keys()[1], v); string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	for _, bad := range []string{"x", `[{"number":0}]`, `[{"number":1,"secret":"AAAA"}]`, `"` + string(r.Encode()) + `"`,
		strings.Replace(string(r.Encode()), `"number":4`, `"number":1`, 1)} {
		if _, err := token.ParseRing([]byte(bad)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWithoutKeys(t *testing.T) {
	r, err := token.ParseRing(nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := r.Append([]byte("x"), &token.Token{}); ok || string(b) != "x" {
		t.Errorf("%q, %v", b, ok)
	}
	good, _ := one(t).Append(nil, &token.Token{Served: start})
	if _, _, err := r.Open(good); !errors.Is(err, token.ErrUnknownKey) {
		t.Error(err)
	}
}

// TestQueryHash tests that the order and the number of words matter.
func TestQueryHash(t *testing.T) {
	seen := make(map[uint64][]uint64)
	for _, words := range [][]uint64{nil, {0}, {0, 0}, {1}, {1, 2}, {2, 1}, {1, 2, 3}, {3}} {
		h := token.QueryHash(words...)
		if other, ok := seen[h]; ok {
			t.Errorf("%v and %v", words, other)
		}
		seen[h] = words
	}
}

// FuzzOpen tests that every text that opens is the text that its token would have.
func FuzzOpen(f *testing.F) {
	k := token.Key{Number: 7, From: start, Secret: secret(1)}
	r := ringOf(f, k)
	good, _ := r.Append(nil, &token.Token{Served: start, Nonce: 5, Position: 2, Campaign: 300, Price: 1_508_572})
	f.Add(good)
	f.Add(good[:20])
	f.Add(bytes.Repeat([]byte("_"), token.MaxText))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, given []byte) {
		check(t, r, k, given)
		// It also tries a right tag: then the parser sees texts that an insider could sign.
		payload := given[:min(len(given), 80)]
		h := hmac.New(sha256.New, k.Secret)
		h.Write(payload)
		sealed := append(bytes.Clone(payload), h.Sum(nil)[:16]...)
		check(t, r, k, []byte(base64.RawURLEncoding.EncodeToString(sealed)))
	})
}

func check(t *testing.T, r *token.Ring, k token.Key, given []byte) {
	v, _, err := r.Open(given)
	if err == nil && slow(k, v) != string(given) {
		t.Fatalf("%q opens as %v, which is %s", given, v, slow(k, v))
	}
}

func BenchmarkAppend(b *testing.B) {
	r := one(b)
	v := token.Token{Served: start, Nonce: 1 << 60, Position: 2, Advertiser: 1_000, Campaign: 5_000, Keyword: 400_000, Ad: 90_000, Price: 1_508_572, Query: 1 << 59}
	buf := make([]byte, 0, token.MaxText)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = r.Append(buf[:0], &v)
	}
	b.ReportMetric(float64(len(buf)), "characters")
}

func BenchmarkOpen(b *testing.B) {
	r := one(b)
	v := token.Token{Served: start, Nonce: 1 << 60, Position: 2, Advertiser: 1_000, Campaign: 5_000, Keyword: 400_000, Ad: 90_000, Price: 1_508_572, Query: 1 << 59}
	given, _ := r.Append(nil, &v)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Open(given); err != nil {
			b.Fatal(err)
		}
	}
}
