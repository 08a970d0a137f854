package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"time"

	"adshard/internal/node/httpapi/api"
)

// Data, as the document describes them.
type (
	Item        = api.Item
	ItemAnswer  = api.ItemAnswer
	ItemList    = api.ItemList
	DataChanges = api.DataChanges
	ChangeLine  = api.ChangeLine
)

// Owner is what holds an entity; at most one is set.
type Owner struct{ Advertiser, Campaign, Group uint64 }

func (o Owner) query() url.Values {
	q := url.Values{}
	for name, id := range map[string]uint64{"advertiser": o.Advertiser, "campaign": o.Campaign, "group": o.Group} {
		if id != 0 {
			q.Set(name, fmt.Sprint(id))
		}
	}
	return q
}

// data is a request to a balancer.
func (c *Client) data(method, path string, query url.Values, to any) *request {
	h := http.Header{}
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	return &request{method: method, path: path, query: query, header: h, to: to}
}

// Get returns an entity. kind is advertisers, campaigns, groups, keywords, negatives or ads; the owner is needed for
// the last three.
func (c *Client) Get(ctx context.Context, kind string, id uint64, of Owner) (*ItemAnswer, error) {
	var out ItemAnswer
	if err := c.do(ctx, c.balancers, c.data(http.MethodGet, fmt.Sprintf("/v1/%s/%d", kind, id), of.query(), &out)); err != nil {
		return nil, err
	}
	return &out, nil
}

// List iterates over the entities of a kind by ascending id, page by page; the owner is needed as for Get. It
// ends after the first error.
func (c *Client) List(ctx context.Context, kind string, of Owner) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		for q := of.query(); ; {
			var page ItemList
			if err := c.do(ctx, c.balancers, c.data(http.MethodGet, "/v1/"+kind, q, &page)); err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Items {
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			q.Set("cursor", page.Next)
		}
	}
}

// Operation is one change of data.
type Operation struct {
	Op   string // create, update, remove
	Type string // advertiser, campaign, group, keyword, negative, ad
	ID   uint64 // of what is updated or removed
	// Owner is that of what is created, and of a keyword, negative or ad.
	Owner Owner
	// IfMatch, an ETag, is what the entity must still be; "" means whatever it
	// is.
	IfMatch string
	// Fields are those that are set, as in the document; nil restores a default.
	Fields map[string]any
}

// MarshalJSON gives the operation as the document describes it.
func (o Operation) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, v := range o.Fields {
		out[name] = v
	}
	out["op"], out["type"] = o.Op, o.Type
	for name, id := range map[string]uint64{"id": o.ID, "advertiser_id": o.Owner.Advertiser, "campaign_id": o.Owner.Campaign, "group_id": o.Owner.Group} {
		if id != 0 {
			out[name] = id
		}
	}
	if o.IfMatch != "" {
		out["if_match"] = o.IfMatch
	}
	return json.Marshal(out)
}

// Change is 1 to 1,000 operations, all of which are made, or none.
type Change struct {
	Operations []Operation
	// Key names the request, so that it is made once if it is sent again in 24 hours. If it is "", the client
	// gives it one for the time of the call.
	Key string
	// WaitServed is how long to wait for all live slaves, up to 8 s; 0 means not at all.
	// DataChanges.Served says whether they serve it.
	WaitServed time.Duration
}

// Change makes changes in one transaction.
func (c *Client) Change(ctx context.Context, v Change) (*DataChanges, error) {
	var out DataChanges
	r := c.data(http.MethodPost, "/v1/batch", url.Values{}, &out)
	r.body = map[string]any{"operations": v.Operations}
	if v.Key == "" {
		v.Key = rand.Text()
	}
	r.header.Set("Idempotency-Key", v.Key)
	if v.WaitServed > 0 {
		r.query.Set("wait", "served")
		r.query.Set("wait_ms", fmt.Sprint(max(v.WaitServed.Milliseconds(), 1)))
	}
	if err := c.do(ctx, c.balancers, r); err != nil {
		return nil, err
	}
	return &out, nil
}

const (
	// changesWait is how long one stream of changes stays open.
	changesWait = 20 * time.Second
	// tooSoon is when a stream without a line has not waited for one.
	tooSoon = time.Second
)

// Follow iterates over the changes after a position ("": the beginning of the log) until ctx is
// done or the caller stops. It reconnects when a stream ends or is cut off. It gives up after
// Config.Tries streams in a row that ended at once without a line, or after an answer that is not a
// stream. An Error with the code stale says that the position is too old: read everything again.
// The code conflict says that the position is of another database or history. It ends after the
// first error.
func (c *Client) Follow(ctx context.Context, after string) iter.Seq2[*ChangeLine, error] {
	return func(yield func(*ChangeLine, error) bool) {
		if err := c.follow(ctx, after, func(line *ChangeLine) bool { return yield(line, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// follow reads one stream after another. It returns nil if the caller has
// stopped.
func (c *Client) follow(ctx context.Context, after string, take func(*ChangeLine) bool) error {
	wait := backoff{c.pause}
	for tries := 1; ; tries++ {
		from := after
		more, lasted, err := c.stream(ctx, &after, take)
		switch {
		case !more:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case after != from || lasted >= tooSoon:
			tries, wait = 0, backoff{c.pause}
			continue
		case tries >= c.tries:
			return errors.Join(fmt.Errorf("client: %d streams of /v1/changes in a row ended at once without a line; see what is between here and the balancer", tries), err)
		}
		if err := wait.sleep(ctx); err != nil {
			return err
		}
	}
}

// stream reads the lines of one stream. more says that another one must be opened after the last
// whole line; err then is what ended this one.
func (c *Client) stream(ctx context.Context, after *string, take func(*ChangeLine) bool) (more bool, lasted time.Duration, err error) {
	q := url.Values{"after": {*after}, "wait_ms": {fmt.Sprint(changesWait.Milliseconds())}}
	res, err := c.open(ctx, c.balancers, c.data(http.MethodGet, "/v1/changes", q, nil))
	if err != nil {
		return false, 0, err
	}
	began := time.Now()
	defer res.Body.Close()
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind != "application/x-ndjson" {
		return false, 0, noStream(res, fmt.Sprintf("the type %q", kind))
	}
	lines := bufio.NewScanner(res.Body)
	lines.Split(wholeLines)
	for lines.Scan() {
		var line ChangeLine
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Position == "" {
			return false, 0, noStream(res, fmt.Sprintf("the line %.100q", lines.Text()))
		}
		if *after = line.Position; !take(&line) {
			return false, 0, nil
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return false, 0, noStream(res, "a line that is too long")
	}
	return true, time.Since(began), lines.Err()
}

// noStream is the error of an answer to /v1/changes that is not a stream. Asking again would not
// change it.
func noStream(res *http.Response, has string) error {
	return &Error{Status: res.StatusCode, Code: "corrupt", Message: fmt.Sprintf(
		"%s answers /v1/changes with %s, which is no stream of changes; is it the admin port of a balancer?", res.Request.URL.Host, has)}
}

// wholeLines splits as bufio.ScanLines does, without a last line that has no end: it was cut off.
func wholeLines(text []byte, atEOF bool) (advance int, line []byte, err error) {
	if bytes.IndexByte(text, '\n') < 0 {
		return 0, nil, nil
	}
	return bufio.ScanLines(text, atEOF)
}

// Export returns all data, or those of one advertiser, as JSON lines that `adshard import` reads.
// The reader must be closed; reading ends with io.EOF when all has arrived, else with another
// error.
func (c *Client) Export(ctx context.Context, advertiser uint64) (io.ReadCloser, error) {
	res, err := c.open(ctx, c.balancers, c.data(http.MethodGet, "/v1/export", Owner{Advertiser: advertiser}.query(), nil))
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
