package scorer_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"adshard/auction"
	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/scorer"
)

func parse(t *testing.T, file string) *scorer.Model {
	t.Helper()
	m, err := scorer.Parse([]byte(file))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return m
}

// factorOf returns the factor of a model for a broad keyword of two words.
func factorOf(m *scorer.Model) uint64 {
	return m.For(&auction.Situation{}).Factor(&auction.Features{Match: 2, Words: 2, Quality: 5, Advertiser: 7, Campaign: 9})
}

// TestCurve: a factor is the integer nearest to 2000 ÷ (1 + e^(−z ÷ 256)), which is never near the middle between two
// integers.
func TestCurve(t *testing.T) {
	for z := -3000; z <= 3000; z++ {
		exact := 2000 / (1 + math.Exp(-float64(z)/256))
		if middle := math.Abs(exact - math.Floor(exact) - 0.5); middle < 0.0004 {
			t.Fatalf("z %d: %v is too near to the middle", z, exact)
		}
		if got, want := factorOf(parse(t, fmt.Sprintf(`{"format":1,"bias":%d}`, z))), uint64(math.Round(exact)); got != want {
			t.Errorf("z %d: %d, want %d", z, got, want)
		}
	}
	for z, want := range map[int]uint64{scorer.MaxWeight: 2000, -scorer.MaxWeight: 0} {
		if got := factorOf(parse(t, fmt.Sprintf(`{"format":1,"bias":%d}`, z))); got != want {
			t.Errorf("z %d: %d, want %d", z, got, want)
		}
	}
}

// TestFeatures: each feature adds its weight if it has the value, and only then.
func TestFeatures(t *testing.T) {
	at := auction.Situation{Device: 1, Hour: 23, Weekday: 6, Words: 3, Site: "a.shop.example"}
	of := auction.Features{Match: 1, Words: 2, Quality: 10, Advertiser: 7, Campaign: 1 << 40}
	for weights, want := range map[string]string{
		`"match":{"phrase":9,"broad":1}`: "match phrase 9", `"words":{"2":9,"1":1}`: "words 2 9", `"quality":{"10":9}`: "quality 10 9",
		`"advertiser":{"7":9,"8":1}`: "advertiser 7 9", `"campaign":{"1099511627776":9}`: "campaign 1099511627776 9",
		`"device":{"mobile":9}`: "device mobile 9", `"hour":{"23":9,"0":1}`: "hour 23 9", `"weekday":{"saturday":9,"sunday":1}`: "weekday saturday 9",
		`"query_words":{"3":9}`: "query_words 3 9", `"site":{"shop.example":9,"example":1}`: "site a.shop.example 9",
		`"site":{"hop.example":9,"x.a.shop.example":1}`: "", `"match":{"exact":9}`: "", `"hour":{"22":9}`: "",
	} {
		c := parse(t, `{"format":1,"weights":{`+weights+`}}`).For(&at)
		var got []string
		for _, p := range c.Parts(&of) {
			got = append(got, fmt.Sprint(p.Feature, " ", p.Value, " ", p.Weight))
		}
		factor := uint64(1018) // for z = 9
		if want == "" {
			factor = 1000
		}
		if strings.Join(got, ", ") != want || c.Factor(&of) != factor {
			t.Errorf("%s: %q and %d, want %q and %d", weights, got, c.Factor(&of), want, factor)
		}
	}
}

// TestTrees: the answers to the splits, with the first as the lowest bit, form the number of the leaf.
func TestTrees(t *testing.T) {
	m := parse(t, `{"format":1,"trees":[{"splits":[["words",1],["quality",5]],"leaves":[100,200,300,400]},{"splits":[["match",1]],"leaves":[5,7]}]}`)
	want := []auction.Part{{Feature: "trees", Weight: 207}}
	if got := m.For(&auction.Situation{}).Parts(&auction.Features{Match: 2, Words: 2, Quality: 5}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestAbout: what a file says about itself changes the model's id but no factor.
func TestAbout(t *testing.T) {
	with, without := parse(t, `{"format":1,"about":"of May","bias":9}`), parse(t, `{"format":1,"bias":9}`)
	if factorOf(with) != factorOf(without) || with.ID() == without.ID() {
		t.Errorf("%d and %d, %v and %v", factorOf(with), factorOf(without), with.ID(), without.ID())
	}
}

// TestIdentity: a model's id depends on its bytes.
func TestIdentity(t *testing.T) {
	a, b, again := parse(t, `{"format":1}`), parse(t, `{"format":1} `), parse(t, `{"format":1}`)
	if a.ID() == b.ID() || a.ID() != again.ID() || a.ID().String() != "3f0a99256beeb89a6b9f2793885291a6" {
		t.Errorf("%v, %v, %v", a.ID(), b.ID(), again.ID())
	}
}

// TestRefused: files that are not models are refused, and the error names the place.
func TestRefused(t *testing.T) {
	many := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	for file, place := range map[string]string{
		``: "", `[]`: "", `null`: "", `{"format":1`: "", `{"format":1}{}`: "", "{\"format\":1,\"\xff\":1}": "", `{}`: "format", `{"format":2}`: "format",
		`{"format":1,"format":1}`: "", `{"format":1,"version":1}`: "version", `{"format":1,"about":1}`: "about", `{"format":1,"bias":1.5}`: "bias", `{"format":1,"bias":1e3}`: "bias",
		`{"format":1,"bias":"1"}`: "bias", `{"format":1,"bias":1000001}`: "bias", `{"format":1,"weights":[]}`: "weights",
		`{"format":1,"weights":{"bid":{}}}`: "weights.bid", `{"format":1,"weights":{"hour":{"24":1}}}`: "weights.hour.24",
		`{"format":1,"weights":{"hour":{"01":1}}}`: "weights.hour.01", `{"format":1,"weights":{"words":{"0":1}}}`: "weights.words.0",
		`{"format":1,"weights":{"words":{"11":1}}}`: "weights.words.11", `{"format":1,"weights":{"quality":{"11":1}}}`: "weights.quality.11",
		`{"format":1,"weights":{"match":{"2":1}}}`: "weights.match.2", `{"format":1,"weights":{"match":{"exact":1,"exact":2}}}`: "weights.match",
		`{"format":1,"weights":{"advertiser":{"0":1}}}`: "weights.advertiser.0", `{"format":1,"weights":{"campaign":{"-1":1}}}`: "weights.campaign.-1",
		`{"format":1,"weights":{"site":{"Shop.example":1}}}`: "weights.site.Shop.example", `{"format":1,"weights":{"site":{"www.shop.example":1}}}`: "weights.site.www.shop.example",
		`{"format":1,"weights":{"device":{"mobile":null}}}`: "weights.device.mobile", `{"format":1,"weights":{"%d":{}}}`: "weights.%d",
		`{"format":1,"trees":[{"splits":[["site",1]],"leaves":[1,2]}]}`: "trees[0].splits[0][0]", `{"format":1,"trees":[{"splits":[],"leaves":[1]}]}`: "trees[0]",
		`{"format":1,"trees":[{"splits":[["hour",1]],"leaves":[1]}]}`: "trees[0]", `{"format":1,"trees":[{"splits":[["hour",-1]],"leaves":[1,2]}]}`: "trees[0].splits[0][1]",
		`{"format":1,"trees":[{"splits":[["hour",1,2]],"leaves":[1,2]}]}`: "trees[0].splits[0][2]", `{"format":1,"trees":[{"splits":[["hour"]],"leaves":[1,2]}]}`: "trees[0].splits[0]",
		`{"format":1,"trees":[{"depth":1}]}`: "trees[0].depth", `{"format":1,"trees":[{"splits":[["hour",1]],"leaves":[1,-1000001]}]}`: "trees[0].leaves[1]",
		`{"format":1,"trees":[{"splits":[` + many(scorer.MaxSplits+1, `["hour",1]`) + `]}]}`:               "trees[0].splits[10]",
		`{"format":1,"trees":[{"leaves":[` + many(1<<scorer.MaxSplits+1, `1`) + `]}]}`:                     "trees[0].leaves[1024]",
		`{"format":1,"trees":[` + many(scorer.MaxTrees+1, `{"splits":[["hour",1]],"leaves":[1,2]}`) + `]}`: "trees[20000]",
		`{"format":1}` + strings.Repeat(" ", scorer.MaxBytes):                                              "",
	} {
		m, err := scorer.Parse([]byte(file))
		if m != nil || !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != place {
			t.Errorf("%.80s: %v at %q, want Invalid at %q", file, err, fault.FieldOf(err), place)
		}
	}
}

// FuzzParse: the factors of a model that Parse accepts are within their bounds, and at most the model's own bound.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":1,"bias":-9,"weights":{"hour":{"3":5},"site":{"a.example":-7},"advertiser":{"3":-900}},"trees":[{"splits":[["hour",1]],"leaves":[1,2]}]}`), uint8(3), uint64(3), "a.example")
	f.Fuzz(func(t *testing.T, file []byte, small uint8, large uint64, host string) {
		m, err := scorer.Parse(file)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatal(err)
			}
			return
		}
		c := m.For(&auction.Situation{Device: small, Hour: small, Weekday: small, Words: small, Site: host})
		of := auction.Features{Match: small, Words: small, Quality: small, Advertiser: large, Campaign: large}
		if got := c.Factor(&of); got > c.Most() || got > auction.MaxFactor {
			t.Fatalf("%d, at most %d", got, c.Most())
		}
		c.Parts(&of)
	})
}

// BenchmarkFactor scores one candidate with models of increasing numbers of trees.
func BenchmarkFactor(b *testing.B) {
	for _, trees := range []int{0, 50, 500, 2500} {
		m, err := scorer.Parse(oracle.LargeModel(trees))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(trees), func(b *testing.B) {
			c, n := m.For(&auction.Situation{Hour: 3}), uint64(0)
			for b.Loop() {
				n++
				c.Factor(&auction.Features{Match: uint8(n % 3), Words: uint8(n % 10), Quality: 5, Advertiser: n * 7919 % 1000, Campaign: n * 104729 % 1000})
			}
		})
	}
}
