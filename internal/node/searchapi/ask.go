package searchapi

import (
	"cmp"
	"context"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/metadata"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/node/httpapi"
	"adshard/internal/node/httpapi/api"
	"adshard/search"
)

// Result is the result of a search.
type Result struct {
	Request *search.Request
	Found   *search.Answer
	Won     []auction.Placement // of Found.Hits
	Took    time.Duration       // since the search began
	signing *signing            // nil if there are no event tokens
	context resolved
	words   string                   // Vocabulary
	why     *[search.Verdicts]uint64 // verdicts of an answer without ads; nil if they were not asked for
	page    *page                    // replaces Won and why; nil if the request has no placements
}

// Locations returns the version of the table of places with which the places of the request were resolved, or "" if the request
// names none. `unknown` lists the places that the table does not have.
func (r *Result) Locations() (version string, unknown []uint32) {
	return r.context.version, r.context.unknown
}

// Vocabulary returns the version of the vocabulary by which misspelt words were corrected, "none" if the master had none, or "" if
// corrections were not asked for.
func (r *Result) Vocabulary() string { return r.words }

// KeptOut is a verdict, with the number of matching keywords that it keeps from taking part.
type KeptOut struct {
	Verdict  search.Verdict
	Keywords uint64
}

// Why counts the verdicts that keep matching keywords from taking part, in the order of their names. It returns nil if they were
// not asked for, or are not known.
func (r *Result) Why() (list []KeptOut) {
	if r.why == nil {
		return nil
	}
	return keptOut(r.why)
}

// keptOut lists the verdicts that keep matching keywords from taking part, in the order of their names.
func keptOut(counts *[search.Verdicts]uint64) []KeptOut {
	list := []KeptOut{}
	for i, n := range counts {
		if v := search.Verdict(i); n > 0 && v != search.Eligible && v.Matched() {
			list = append(list, KeptOut{v, n})
		}
	}
	slices.SortFunc(list, func(a, b KeptOut) int { return strings.Compare(a.Verdict.String(), b.Verdict.String()) })
	return list
}

// Ask answers a search that did not arrive over HTTP. It is checked, admitted and observed like a POST; the observed Status is
// that of the HTTP answer. `id` is the request's id, or "" if one must be made.
func (h *Handler) Ask(ctx context.Context, b *api.SearchBody, tags search.Tags, id string) (r Result, err error) {
	if h.OwnRequestIDs {
		id = ""
	}
	c := &call{Handler: h, start: time.Now(), tags: tags, body: true, asked: b}
	c.seen.Operation, c.seen.RequestID = operation("/v1/search"), id
	if h.Tracer != nil {
		md, _ := metadata.FromIncomingContext(ctx)
		c.trace(headersOf(md))
	}
	if id == "" {
		c.seen.RequestID = h.NewRequestID()
	} else {
		err = checkID("request_id", id)
	}
	if err == nil {
		r, err = c.answer(ctx, b.SearchParams)
	}
	c.seen.Status = http.StatusOK
	if err != nil {
		c.seen.Status, c.seen.Err = httpapi.Status(err), c.defect(err)
	}
	c.observe()
	return r, err
}

// answer calls result, and turns a panic into an error.
func (c *call) answer(ctx context.Context, p *api.SearchParams) (r Result, err error) {
	defer fault.Recover(op, &err, func(any) { c.stack = debug.Stack() })
	return c.result(ctx, p)
}

// result makes the search.
func (c *call) result(ctx context.Context, p *api.SearchParams) (Result, error) {
	if c.seen.Query = p.Q; c.Arrived != nil || c.Timed {
		c.seen.Context = saidOf(c.asked, c.start)
	}
	if c.Arrived != nil {
		vocabulary := ""
		if p.Variants == api.VariantMisspelt {
			vocabulary = cmp.Or(c.Expansions.Vocabulary(), noVocabulary)
		}
		c.Arrived(p.Q, c.seen.Context, vocabulary)
	}
	ctx, done, err := c.begin(ctx, p.TimeoutMs)
	if err != nil {
		return Result{}, err
	}
	defer done()
	req, err := c.request(ctx, p.Q, p.Slots, p.Device, p.Variants, searchContext(p))
	if err != nil {
		return Result{}, err
	}
	if p.MinClock != "" {
		if req.Least, err = search.ParsePosition("min_clock", p.MinClock); err != nil {
			return Result{}, err
		}
	}
	req.ExactCounts, req.Strict = p.Counts == api.ExactCountsExact, p.Strict
	if p.Strict && c.seen.Vocabulary == noVocabulary {
		return Result{}, fault.Newf(fault.Unavailable, op, "the vocabulary by which misspelt words are corrected has not come from the balancer yet: ask again soon")
	}
	page, err := c.page(req)
	if err != nil {
		return Result{}, err
	}
	req, found, err := c.askByLists(ctx, req)
	if err != nil {
		return Result{}, err
	}
	if p.Strict && found.Width != search.WholeRing() {
		return Result{}, incomplete(found)
	}
	r := c.finish(&Result{Request: req, Found: found, context: c.context, words: c.seen.Vocabulary, page: page})
	if p.WhyEmpty {
		c.whyEmpty(ctx, &r)
	}
	return r, nil
}

// finish runs the auction over the answer of the shards.
func (c *call) finish(r *Result) Result {
	began := time.Now()
	if r.page != nil {
		r.page.fill(r.Found)
	} else {
		r.Won = c.place(r.Request, r.Found)
	}
	now := time.Now()
	c.seen.Finish = now.Sub(began)
	c.span.Stage("auction", began, c.seen.Finish)
	r.Took, r.signing = now.Sub(c.start), c.signing(r.Request, now)
	return *r
}

// whyEmpty counts the verdicts if an answer, or one of its placements, has no ads.
func (c *call) whyEmpty(ctx context.Context, r *Result) {
	switch {
	case r.page != nil:
		r.page.whyEmpty(func(req *search.Request) *[search.Verdicts]uint64 { return c.why(ctx, req) }, r.Request)
	case len(r.Won) == 0:
		r.why = c.why(ctx, r.Request)
	}
}

// why counts the verdicts of the keywords that match a request, with low priority. It returns nil if they are not known in time.
func (c *call) why(ctx context.Context, req *search.Request) *[search.Verdicts]uint64 {
	if c.Counter == nil {
		return nil
	}
	own := *req
	own.Timing, own.Low = nil, true
	e, err := c.Counter.Explain(ctx, &own, 0)
	if err != nil {
		return nil
	}
	if c.seen.Why == nil {
		c.seen.Why = new([search.Verdicts]uint64)
	}
	for i, n := range e.Counts { // the sum over several placements without ads
		c.seen.Why[i] += n
	}
	return &e.Counts
}
