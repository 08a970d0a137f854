package hotwriters

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// answers queries a cluster.
type answers struct {
	url  string
	http http.Client
}

// answer holds the fields that are read from an answer.
type answer struct {
	Ads      []struct{} `json:"ads"`
	Coverage struct {
		Complete bool   `json:"complete"`
		LagMS    uint64 `json:"lag_ms"`
	} `json:"coverage"`
}

func (a *answers) ask(ctx context.Context, word string) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"/v1/search?q="+url.QueryEscape(word), nil)
	if err != nil {
		return nil, err
	}
	res, err := a.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusServiceUnavailable {
		return new(answer), nil // not complete either
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %s", r.URL, res.Status, body)
	}
	out := new(answer)
	return out, json.Unmarshal(body, out)
}

// until queries a word until a complete answer has ads (or has none, if shown is false), and
// calls lag with each answer's lag. It returns false if that takes longer than `most`.
func (a *answers) until(ctx context.Context, word string, shown bool, most time.Duration, lag func(time.Duration)) (bool, error) {
	over := time.Now().Add(most)
	pause := time.NewTicker(pollEvery)
	defer pause.Stop()
	for {
		got, err := a.ask(ctx, word)
		if err != nil {
			return false, err
		}
		if got.Coverage.Complete {
			lag(time.Duration(got.Coverage.LagMS) * time.Millisecond)
			if (len(got.Ads) > 0) == shown {
				return true, nil
			}
		}
		if time.Now().After(over) {
			return false, nil
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
