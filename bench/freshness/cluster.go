package freshness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// cluster is a running cluster as its users see it.
type cluster struct {
	search, admin string // URLs
	http          http.Client
}

// pollEvery is the pause between two queries, which is short compared with
// what is measured.
const pollEvery = time.Millisecond

// ad holds the fields read from an ad.
type ad struct {
	Advertiser string `json:"advertiser"`
	FinalURL   string `json:"final_url"`
}

// ads returns the advertisers of the ads for a word, in their order.
func (c *cluster) ads(ctx context.Context, word string) ([]string, error) {
	list, err := c.answer(ctx, word)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Advertiser
	}
	return names, nil
}

// answer returns the ads for a word, in their order.
func (c *cluster) answer(ctx context.Context, word string) ([]ad, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.search+"/v1/search?q="+url.QueryEscape(word), nil)
	if err != nil {
		return nil, err
	}
	body, err := c.do(r)
	if err != nil {
		return nil, err
	}
	var a struct {
		Ads []ad `json:"ads"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%s does not answer as adshard does: %w", c.search, err)
	}
	return a.Ads, nil
}

// budget marks a campaign's budget as exhausted or not, through the admin
// port.
func (c *cluster) budget(ctx context.Context, campaign uint64, exhausted bool) error {
	body := fmt.Appendf(nil, `{"exhausted":%t}`, exhausted)
	address := fmt.Sprintf("%s/v1/campaigns/%d/budget", c.admin, campaign)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	_, err = c.do(r)
	return err
}

// do returns the body of a response with status 2xx, or else an error.
func (c *cluster) do(r *http.Request) ([]byte, error) {
	res, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %s", r.Method, r.URL, res.Status, bytes.TrimSpace(body))
	}
	return body, nil
}

// wait repeats a query for a word until the ads are as wanted.
func (c *cluster) wait(ctx context.Context, word string, wanted func(advertisers []string) bool) error {
	pause := time.NewTicker(pollEvery)
	defer pause.Stop()
	for {
		names, err := c.ads(ctx, word)
		if err != nil {
			return err
		}
		if wanted(names) {
			return nil
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return fmt.Errorf("the change is not in the answers; the last for %q: %q: %w", word, names, ctx.Err())
		}
	}
}
