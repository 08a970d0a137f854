package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"adshard/client"
)

// A search that any of the masters answers.
func ExampleClient_Search() {
	master := httptest.NewServer(http.HandlerFunc(ok)) // in place of yours
	defer master.Close()
	c, err := client.New(client.Config{Masters: []string{"http://127.0.0.1:1", master.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Search(context.Background(), client.SearchRequest{Query: "usb cable", Slots: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(answer.Ads), "ads; complete:", answer.Coverage.Complete)
	// Output: 0 ads; complete: true
}

// Two placements of a page, of which the second cannot be filled.
func ExampleClient_Search_placements() {
	master := httptest.NewServer(says("application/json", // in place of yours
		`{"ads":[],"placements":[{"id":"top","ads":[{"position":1,"advertiser":"Acme","price_micros":60000}]},`+
			`{"id":"side","ads":[],"error":{"code":"invalid","message":"there is no block list \"kids\"","field":"block"}}]}`))
	defer master.Close()
	c, err := client.New(client.Config{Masters: []string{master.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Search(context.Background(), client.SearchRequest{Query: "usb cable", Placements: []client.Placement{
		{ID: "top", Slots: 3, ReserveMicros: 50_000}, {ID: "side", Slots: 4, Block: []string{"kids"}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range answer.Placements {
		if p.Error != nil {
			fmt.Printf("%s: %s\n", p.ID, p.Error.Message)
		}
		for _, ad := range p.Ads {
			fmt.Printf("%s: %d. %s at %d micros\n", p.ID, ad.Position, ad.Advertiser, ad.PriceMicros)
		}
	}
	// Output:
	// top: 1. Acme at 60000 micros
	// side: there is no block list "kids"
}

// An error of a server has a code by which to decide.
func ExampleError() {
	master := httptest.NewServer(refuses(http.StatusBadRequest, "invalid"))
	defer master.Close()
	c, err := client.New(client.Config{Masters: []string{master.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	_, err = c.Search(context.Background(), client.SearchRequest{Query: "usb cable", Slots: 99})
	var refused *client.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Field, refused.Temporary())
	}
	// Output: invalid f false
}

// says returns a handler that answers with a text.
func says(kind, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, text)
	}
}

// Why the keywords of an advertiser are not shown, including those that do not match.
func ExampleClient_Explain() {
	master := httptest.NewServer(says("application/json", // in place of yours
		`{"matches":[{"keyword":"usb cable","verdict":"lost","reason":"its rank is too low"},{"keyword":"hdmi cable","verdict":"unmatched","reason":"hdmi is not in the query"}]}`))
	defer master.Close()
	c, err := client.New(client.Config{Masters: []string{master.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	answer, err := c.Explain(context.Background(), client.ExplainRequest{SearchRequest: client.SearchRequest{Query: "usb cable"}, WhyNot: "Acme"})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range answer.Matches {
		fmt.Printf("%s: %s, %s\n", k.Keyword, k.Verdict, k.Reason)
	}
	// Output:
	// usb cable: lost, its rank is too low
	// hdmi cable: unmatched, hdmi is not in the query
}

// The impression and the click of an ad, by the token that came with it.
func ExampleClient_Events() {
	collector := httptest.NewServer(says("application/json", `{"counted":1,"duplicate":1,"refused":[]}`)) // in place of yours
	defer collector.Close()
	c, err := client.New(client.Config{Collectors: []string{collector.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	const token = "AQAAAA" // EventToken of the ad
	answer, err := c.Events(context.Background(), []client.Event{{Kind: "impression", Token: token}, {Kind: "click", Token: token}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Counted, "counted,", answer.Duplicate, "counted before,", len(answer.Refused), "refused")
	// Output: 1 counted, 1 counted before, 0 refused
}

// A campaign is paused if it has not changed since it was read, and the call waits until queries see the change.
func ExampleClient_Change() {
	balancer := httptest.NewServer(campaign()) // in place of yours
	defer balancer.Close()
	c, err := client.New(client.Config{Balancers: []string{balancer.URL}, Token: "operator-operator-operator"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	ctx := context.Background()
	now, err := c.Get(ctx, "campaigns", 7, client.Owner{})
	if err != nil {
		log.Fatal(err)
	}
	pause := client.Operation{Op: "update", Type: "campaign", ID: 7, IfMatch: now.Item.Etag, Fields: map[string]any{"status": "paused"}}
	made, err := c.Change(ctx, client.Change{Operations: []client.Operation{pause}, WaitServed: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(now.Item.Name, "was", now.Item.Status, "and is", made.Changes[0].Item.Status, "served:", *made.Served)
	// Output: Cables was enabled and is paused served: true
}

// campaign serves campaign 7, which any change pauses.
func campaign() http.Handler {
	h := http.NewServeMux()
	h.Handle("GET /v1/campaigns/7", says("application/json", `{"item":{"id":7,"name":"Cables","status":"enabled","etag":"\"a1\""}}`))
	h.Handle("POST /v1/batch", says("application/json", `{"served":true,"changes":[{"effect":"changed","type":"campaign","id":7,"item":{"id":7,"name":"Cables","status":"paused"}}]}`))
	return h
}

// Changes since a position, as they happen. A program keeps the position of the last line for its next start.
func ExampleClient_Follow() {
	balancer := httptest.NewServer(says("application/x-ndjson", // in place of yours
		`{"position":"6-9d01c9b5c2a7e6f3","type":"group","id":3,"campaign_id":7,"advertiser_id":1}`+"\n"+
			`{"position":"7-9d01c9b5c2a7e6f3","type":"campaign","id":7,"advertiser_id":1,"removed":true}`+"\n"))
	defer balancer.Close()
	c, err := client.New(client.Config{Balancers: []string{balancer.URL}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for line, err := range c.Follow(context.Background(), "5-9d01c9b5c2a7e6f3") {
		if err != nil {
			log.Fatal(err) // stale: read everything again
		}
		fmt.Println(line.Type, line.ID, "removed:", line.Removed, "at", line.Position)
		if line.Removed {
			break
		}
	}
	// Output:
	// group 3 removed: false at 6-9d01c9b5c2a7e6f3
	// campaign 7 removed: true at 7-9d01c9b5c2a7e6f3
}
