package openloop

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// Ad is the part of an ad that stays the same as long as the database does: the keyword that
// won the place, and its price. Which ad of its group is shown may rotate.
type Ad struct{ Keyword, Price uint64 }

// Reference holds the ads of each target's complete answer, in their order.
type Reference [][]Ad

// Record sends each request once, one at a time, and keeps the answers. It returns an error if
// an answer is not complete: call it when the server is at rest.
func Record(ctx context.Context, c Config) (Reference, error) {
	c.Duration = max(c.Duration, 1)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	conn := newConnection(&c)
	defer conn.close()
	out := make(Reference, len(c.Targets))
	for i, target := range c.Targets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		status, body, err := conn.ask(ctx, target)
		if err != nil || status != 200 {
			return nil, fmt.Errorf("record the answer of %s: %w", target.Path, failure(status, err))
		}
		if !complete(body) {
			return nil, fmt.Errorf("record the answer of %s: it is not complete", target.Path)
		}
		out[i] = adsOf(body)
	}
	return out, nil
}

func complete(body []byte) bool { return bytes.Contains(body, []byte(`"complete":true`)) }

// adsOf returns the ads of an answer. Quotes within texts are escaped, so that a field's name
// is not found in a text.
func adsOf(body []byte) (out []Ad) {
	for {
		var a Ad
		var ok bool
		if a.Keyword, body, ok = number(body, `"keyword_id":`); !ok {
			return out
		}
		if a.Price, body, ok = number(body, `"price_micros":`); !ok {
			return out
		}
		out = append(out, a)
	}
}

// number finds the number after a field's name, and returns it and what follows it.
func number(body []byte, name string) (n uint64, rest []byte, ok bool) {
	_, body, ok = bytes.Cut(body, []byte(name))
	if !ok {
		return 0, nil, false
	}
	end := 0
	for end < len(body) && body[end] >= '0' && body[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(body[:end]), 10, 64)
	return n, body[end:], err == nil
}

// Wrong counts how answers differ from the reference.
type Wrong struct {
	// Missed counts ads that are in the reference but not in the answer, Extra ads that are only
	// in the answer or twice in it, Mispriced ads with another price.
	Missed, Extra, Mispriced int
}

func (w *Wrong) add(v Wrong) {
	w.Missed += v.Missed
	w.Extra += v.Extra
	w.Mispriced += v.Mispriced
}

// compare compares an answer with the reference.
func compare(want, got []Ad) (w Wrong) {
	left := make(map[uint64]uint64, len(want))
	for _, a := range want {
		left[a.Keyword] = a.Price
	}
	for _, a := range got {
		price, ok := left[a.Keyword]
		if !ok {
			w.Extra++
			continue
		}
		delete(left, a.Keyword)
		if price != a.Price {
			w.Mispriced++
		}
	}
	w.Missed = len(left)
	return w
}
