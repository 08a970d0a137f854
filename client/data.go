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

// Types of data, described in the document.
type (
	Item        = api.Item
	ItemAnswer  = api.ItemAnswer
	ItemList    = api.ItemList
	DataChanges = api.DataChanges
	ChangeLine  = api.ChangeLine
)

// Owner is the owner of an entity. At most one field is set.
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

// data returns a request to a balancer.
func (c *Client) data(method, path string, query url.Values, to any) *request {
	h := http.Header{}
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	return &request{method: method, path: path, query: query, header: h, to: to}
}

// Get returns an entity. `kind` is advertisers, campaigns, groups, keywords, negatives or ads. The last three need
// the owner.
func (c *Client) Get(ctx context.Context, kind string, id uint64, of Owner) (*ItemAnswer, error) {
	var out ItemAnswer
	if err := c.do(ctx, c.balancers, c.data(http.MethodGet, fmt.Sprintf("/v1/%s/%d", kind, id), of.query(), &out)); err != nil {
		return nil, err
	}
	return &out, nil
}

// List iterates over the entities of a kind by ascending id, page by page. The same kinds as for Get need the owner.
// It ends after the first error.
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

// Operation is one change of an entity.
type Operation struct {
	Op   string // create, update, remove
	Type string // advertiser, campaign, group, keyword, negative, ad
	ID   uint64 // id of the entity to update or remove
	// Owner is the owner of an entity to create, or of a keyword, negative or ad.
	Owner Owner
	// IfMatch is the ETag that the entity must still have. "" means any.
	IfMatch string
	// Fields are the fields to set, as in the document. nil restores a default.
	Fields map[string]any
}

// MarshalJSON returns the operation as the document describes it.
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

// Change is 1 to 1,000 operations that are performed together or not at all.
type Change struct {
	Operations []Operation
	// Key names the change, so that it is performed only once if it is sent again within 24 hours. If it is "", the
	// client chooses a key for the call.
	Key string
	// WaitServed is how long to wait until all live slaves serve the change, up to 8 s. 0 means not to wait.
	// DataChanges.Served says whether they serve it.
	WaitServed time.Duration
}

// Change performs a change in one transaction.
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
	// tooSoon is the time below which a stream that ends without a line did not wait for one.
	tooSoon = time.Second
)

// Follow iterates over the changes after a position until ctx is done or the caller stops. "" is the beginning of
// the log. It reconnects if a stream ends or is cut off. It gives up after Config.Tries streams in a row that ended
// at once without a line, or after an answer that is not a stream. An Error with the code stale means that the
// position is too old: read everything again. The code conflict means that the position belongs to another database
// or history. Follow ends after the first error.
func (c *Client) Follow(ctx context.Context, after string) iter.Seq2[*ChangeLine, error] {
	return func(yield func(*ChangeLine, error) bool) {
		if err := c.follow(ctx, after, func(line *ChangeLine) bool { return yield(line, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// follow reads one stream after another. It returns nil if the caller stops.
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

// stream reads the lines of one stream. If more is true, another stream must be opened after the last whole line,
// and err is what ended this one.
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

// noStream returns the error for an answer to /v1/changes that is not a stream. Sending the request again would not
// help.
func noStream(res *http.Response, has string) error {
	return &Error{Status: res.StatusCode, Code: "corrupt", Message: fmt.Sprintf(
		"%s answers /v1/changes with %s, which is not a stream of changes; is it the admin port of a balancer?", res.Request.URL.Host, has)}
}

// wholeLines splits like bufio.ScanLines, but drops a last line without an end, since it was cut off.
func wholeLines(text []byte, atEOF bool) (advance int, line []byte, err error) {
	if bytes.IndexByte(text, '\n') < 0 {
		return 0, nil, nil
	}
	return bufio.ScanLines(text, atEOF)
}

// Export returns all data, or those of one advertiser, as JSON lines that `adshard import` reads. The reader must be
// closed. It returns io.EOF once everything has arrived, otherwise another error.
func (c *Client) Export(ctx context.Context, advertiser uint64) (io.ReadCloser, error) {
	res, err := c.open(ctx, c.balancers, c.data(http.MethodGet, "/v1/export", Owner{Advertiser: advertiser}.query(), nil))
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
