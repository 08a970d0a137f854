package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adshard/fault"
	"adshard/internal/cli/apiclient"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/money"
	"adshard/internal/node/access"
	"adshard/internal/node/httpapi/api"
)

// whyNotTimeout is the time limit of --why-not, in milliseconds, unless one is given. It is long, since all keywords
// are examined.
const whyNotTimeout = "5000"

type queryFlags struct {
	addr          string
	json, explain bool
	whyNot        bool     // --why-not was given
	placements    []string // of a page
	caller        apiclient.CallerFlags
}

// asked maps the flags of query that become parameters of the request to these parameters. Flags that were not given
// are not sent, so that the server's defaults apply.
var asked = map[string]string{
	"slots": "slots", "device": "device", "variants": "variants", "timeout-ms": "timeout_ms", "strict": "strict",
	"counts": "counts", "limit": "limit", "offset": "offset", "why-not": "why_not",
	"location": "location", "interest-location": "interest_location", "point": "point", "time": "time", "language": "language",
	"audience": "audience", "site": "site", "block": "block", "block-advertiser": "block_advertiser", "block-domain": "block_domain",
	"block-category": "block_category", "block-uncategorised": "block_uncategorised", "why-empty": "why_empty", "per-advertiser": "per_advertiser",
}

// QueryCommand returns the command that queries a master for ads.
func QueryCommand(s cmdline.Streams) *cobra.Command {
	var f queryFlags
	c := &cobra.Command{
		Use:   "query WORDS...",
		Short: "Ask a running cluster for the ads of a query",
		// People look for query --explain as a command of its own.
		SuggestFor: []string{"explain", "search"},
		Long: `Asks a running cluster for the ads of a query and shows them as a table: position, ad,
advertiser, winning keyword, how it matched, and the price per click.

With --explain it shows every matching keyword and its fate: who won, who lost to whom,
what was blocked and why. With --why-not it shows one keyword, or those of one advertiser,
whether they match or not. Explanations reveal bids, so a master whose query port is not
on loopback answers them on its admin port only: give that with --addr.

Campaigns that are targeted are shown only where the query says so: --location (ids as
'adshard locations find' shows them), --point, --time, --language, --audience, --site. What a page
does not want is named by --block and its like. Flags that name several may be repeated.

With --placement, which may be repeated, the query fills several placements of a page, in their
order; an advertiser has one place on the page, or as many as --per-advertiser says.`,
		Example: `  adshard query usb cable
  adshard query --slots 8 --device mobile usb cable
  adshard query --explain usb cable                  why each keyword won, lost or was blocked
  adshard query --explain --addr :8081 usb cable     asks the admin port
  adshard query --why-not 17 usb cable               why keyword 17 is not shown
  adshard query --why-not 'Shoes & Co' usb cable     the same of an advertiser's keywords
  adshard query --json usb cable | jq .ads[].price_micros
  adshard query --location 2203 --site news.example usb cable
  adshard query --time 2026-12-24T20:00:00+01:00 --block family --why-empty usb cable
  adshard query --placement top:3:0.05 --placement side:4 usb cable
  adshard query --explain --placement top:3 --placement side:4 usb cable
  adshard query -- -5 °C                             words that begin with -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdline.WrongUse("name the words of the query")
			}
			return nil
		},
		RunE: func(c *cobra.Command, words []string) error {
			p := parameters(c.Flags(), words)
			if f.whyNot = p.Has("why_not"); f.whyNot {
				if p.Get("why_not") == "" {
					return cmdline.WrongUse("--why-not needs a keyword's number or an advertiser's name")
				}
				if !p.Has("timeout_ms") {
					p.Set("timeout_ms", whyNotTimeout)
				}
			}
			return runQuery(c.Context(), &f, p, s)
		},
	}
	f.add(c.Flags())
	return c
}

// add declares the flags.
func (f *queryFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.addr, "addr", apiclient.DefaultHTTP, "the address of a master, or of an admin port that knows masters")
	flags.BoolVar(&f.json, "json", false, "print the server's answer as JSON")
	f.caller.Add(flags)
	flags.BoolVar(&f.explain, "explain", false, "show every matching keyword and its fate")
	flags.String("why-not", "", "explain only this keyword (its number), or those of an advertiser (its name, or advertiser:NUMBER)")
	flags.Int("slots", 4, "the number of ads, 1 to 20")
	flags.String("device", "desktop", "desktop, mobile or tablet")
	flags.String("variants", "synonym", "how far words may differ: identical, folded, inflected, synonym or misspelt")
	flags.Int("timeout-ms", 500, "the time limit for the answer in milliseconds, 1 to 5000")
	flags.Bool("strict", false, "fail instead of returning an incomplete answer")
	flags.String("counts", "", "exact: count all matching keywords, which is slower")
	flags.StringArray("location", nil, "the id of a place where the user is")
	flags.StringArray("interest-location", nil, "the id of a place that the query is about")
	flags.String("point", "", "where the user is: LAT,LON in degrees")
	flags.String("time", "", "when the query was asked, as in RFC 3339; default: now")
	flags.StringArray("language", nil, "a language of the user, such as Czech or cs")
	flags.StringArray("audience", nil, "an audience segment to which the user belongs")
	flags.String("site", "", "the host of the page that asks, optionally with a path")
	flags.StringArray("block", nil, "the name of a stored block list")
	flags.StringArray("block-advertiser", nil, "the id of an advertiser that is not shown")
	flags.StringArray("block-domain", nil, "a host to which no ad may lead")
	flags.StringArray("block-category", nil, "a category that is not shown")
	flags.Bool("block-uncategorised", false, "campaigns without any category are not shown")
	flags.Bool("why-empty", false, "if there are no ads, count what keeps the matching keywords from taking part")
	flags.StringArrayVar(&f.placements, "placement", nil, "a placement of a page: ID, ID:SLOTS or ID:SLOTS:RESERVE, the reserve in units of money")
	flags.Int("per-advertiser", 1, "with --placement: the number of places of the page that an advertiser may have, 1 to 20")
	flags.Int("limit", 100, "with --explain or --why-not: the maximum number of keywords to show")
	flags.Int("offset", 0, "with --explain or --why-not: the number of keywords to skip")
}

// parameters returns the request's parameters: the query and the flags that were given.
func parameters(flags *pflag.FlagSet, words []string) url.Values {
	p := url.Values{"q": {strings.Join(words, " ")}}
	flags.Visit(func(f *pflag.Flag) {
		name, ok := asked[f.Name]
		if list, several := f.Value.(pflag.SliceValue); ok && several {
			p[name] = list.GetSlice()
		} else if ok {
			p.Set(name, f.Value.String())
		}
	})
	return p
}

func runQuery(ctx context.Context, f *queryFlags, p url.Values, s cmdline.Streams) error {
	const most = 10 * time.Second // the server gives up earlier
	c, err := apiclient.New(f.addr, most, &f.caller, access.Master, access.Balancer)
	if err != nil {
		return err
	}
	c.Kind = "the address of a master for queries, by default port 8080"
	defer c.Close()
	ask, err := f.asks(p)
	if err != nil {
		return err
	}
	body, err := ask(ctx, c)
	if fault.Is(err, fault.NotFound) { // the port is a balancer's admin port
		if master, found := apiclient.FindMaster(ctx, c); found != nil {
			err = errors.Join(err, found)
		} else if c, err = apiclient.New(master, most, f.caller.WithoutToken(), access.Master, access.Balancer); err == nil {
			defer c.Close()
			c.Kind = "the address that the master tells its balancer; else give one that is reached from here"
			body, err = ask(ctx, c)
		}
	}
	if err != nil {
		return elsewhere(err)
	}
	if err := f.show(s, c, body); err != nil || !f.explain || len(f.placements) < 2 {
		return err
	}
	for _, text := range f.placements[1:] { // each placement is explained separately
		p.Set("of_placement", placementID(text))
		if body, err = ask(ctx, c); err == nil {
			err = f.show(s, c, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// show shows an answer.
func (f *queryFlags) show(s cmdline.Streams, c *apiclient.Client, body []byte) error {
	if f.json {
		_, err := s.Out.Write(body)
		return err
	}
	if f.explain {
		var a api.ExplainAnswer
		if err := c.Decode(body, &a); err != nil {
			return err
		}
		return showExplanation(s, &a, f.whyNot)
	}
	var a api.SearchAnswer
	if err := c.Decode(body, &a); err != nil {
		return err
	}
	return showAds(s, &a)
}

// asks returns a function that sends the request.
func (f *queryFlags) asks(p url.Values) (func(context.Context, *apiclient.Client) ([]byte, error), error) {
	path := "/v1/search"
	if f.explain = f.explain || f.whyNot; f.explain {
		path = "/v1/explain"
	}
	for _, text := range f.placements {
		one, err := placementOf(text)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		p.Add("placement", string(raw))
	}
	return func(ctx context.Context, c *apiclient.Client) ([]byte, error) {
		if len(f.placements) == 0 || f.explain {
			return c.Get(ctx, path, p)
		}
		return c.Post(ctx, path, api.BodyOf(p))
	}, nil
}

// elsewhere adds to the error of a refused explanation how to request it from the admin port.
func elsewhere(err error) error {
	if forbidden := (*apiclient.ForbiddenError)(nil); errors.As(err, &forbidden) {
		return cmdline.Usage(fmt.Errorf("%w\nask the admin port with `adshard query --explain --addr ADMIN`, for example --addr %s", forbidden, apiclient.DefaultAdmin))
	}
	return err
}

// whyEmpty returns the verdicts in an answer without ads, the most frequent first, as text.
func whyEmpty(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	text := ""
	for i, name := range names {
		text += []string{": ", ", "}[min(i, 1)] + fmt.Sprintf("%s %d", name, counts[name])
	}
	return text
}

func showAds(s cmdline.Streams, a *api.SearchAnswer) error {
	show := func() error { return showTable(s, a.Ads, a.Why) }
	if len(a.Placements) > 0 {
		show = func() error { return showPlacements(s, a) }
	}
	if err := show(); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "%s; ", counts(a))
	showCoverage(s, &a.Coverage, a.TookUs)
	if a.Truncated {
		fmt.Fprintln(s.Out, "Only the first 32 words, or 40 units, were used.")
	}
	return nil
}

// showTable shows ads, or what keeps keywords from being shown.
func showTable(s cmdline.Streams, ads []api.Ad, why map[string]int) error {
	if len(ads) == 0 {
		fmt.Fprintln(s.Out, "no ads"+whyEmpty(why))
		return nil
	}
	t := terminal.NewTable(s.Out, "#", "AD", "ADVERTISER", "KEYWORD", "MATCH", "PRICE")
	for _, ad := range ads {
		t.Row(strconv.Itoa(ad.Position), terminal.Cut(terminal.First(ad.Headlines), 40), terminal.Cut(ad.Advertiser, 30), terminal.Cut(ad.Keyword, 40),
			fmt.Sprintf("%s/%s", ad.MatchType, ad.Variant), money.Format(ad.PriceMicros))
	}
	return t.Flush()
}

// counts returns as text how many keywords match and take part in the auction. A lower bound of 0 candidates is
// exact, since any candidate would have won a place and been counted.
func counts(a *api.SearchAnswer) string {
	switch least := a.Counts == api.SearchAnswerCountsLowerBound; {
	case least && a.Matched == 0:
		return "no keyword takes part"
	case least && a.Candidates == 0:
		return fmt.Sprintf("at least %d keywords match, none takes part", a.Matched)
	case least:
		return fmt.Sprintf("at least %d keywords match, at least %d take part", a.Matched, a.Candidates)
	}
	return fmt.Sprintf("%d keywords match, %d take part", a.Matched, a.Candidates)
}

func showCoverage(s cmdline.Streams, c *api.Coverage, tookUs int64) {
	fmt.Fprintf(s.Out, "%d of %d shards, %.1f ms\n", c.Answered, c.Shards, float64(tookUs)/1000)
	if !c.Complete {
		fmt.Fprint(s.Out, "Incomplete: ads may be missing and prices may differ.")
		if len(c.Missing) > 0 {
			fmt.Fprintf(s.Out, " Missing: %s.", terminal.Printable(missingShards(c)))
		}
		fmt.Fprintln(s.Out)
	}
}

// missingShards returns the names of the missing shards, with the reasons.
func missingShards(c *api.Coverage) string {
	texts := make([]string, len(c.Missing))
	for i, name := range c.Missing {
		texts[i] = fmt.Sprintf("%s (%s)", name, c.Reasons[name])
	}
	return strings.Join(texts, ", ")
}
