package access

import (
	"context"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"adshard/fault"
	"adshard/schema/pb"
)

// TestIdentitiesAreURIs: ParseURI reads the URIs that URI makes, and no others.
func TestIdentitiesAreURIs(t *testing.T) {
	who := Identity{"prod", Slave, "slave-1"}
	if text := who.URI().String(); text != "adshard://prod/slave/slave-1" {
		t.Fatal(text)
	}
	if got, err := ParseURI(who.URI()); err != nil || got != who {
		t.Fatalf("%v, %v", got, err)
	}
	for _, text := range []string{
		"", "adshard://prod/slave/", "adshard://prod/slave", "adshard:///slave/slave-1", "adshard://prod/porter/slave-1", "spiffe://prod/slave/slave-1",
		"adshard://prod/slave/slave-1/x", "adshard://prod/slave/slave-1?x=1", "adshard://prod/slave/slave-1#x", "adshard://u@prod/slave/slave-1",
		"adshard://prod/Slave/slave-1", "adshard://prod/slave/slave%2D1", "adshard://prod/slave/%2e%2e", "adshard://prod/slave/" + strings.Repeat("x", 101),
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseURI(u); !fault.Is(err, fault.Invalid) || got.Known() {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// TestNamesAreBound: a certificate of a role is valid only for its own name, and a message without
// a name matches no caller.
func TestNamesAreBound(t *testing.T) {
	table := NewTable()
	one := Identity{"prod", Slave, "slave-1"}
	for _, c := range []struct {
		who     Identity
		call    string
		message any
		ok      bool
	}{
		{one, "/adshard.v1.Balancer/Register", &pb.RegisterRequest{Name: "slave-1"}, true},
		{one, "/adshard.v1.Balancer/Register", &pb.RegisterRequest{Name: "slave-2"}, false},
		{one, "/adshard.v1.Balancer/Register", &pb.RegisterRequest{}, false},
		{one, "/adshard.v1.Balancer/Report", &pb.ReportRequest{Name: "slave-2"}, false},
		{one, "/adshard.v1.Distributor/Enlist", &pb.RegisterRequest{Name: "slave-2"}, false},
		{one, "/adshard.v1.Distributor/Pull", &pb.PullRequest{Name: "slave-1"}, true},
		{one, "/adshard.v1.Distributor/Pull", &pb.PullRequest{Name: "slave-2"}, false},
		{one, "/adshard.v1.Distributor/Part", &pb.PartRequest{Name: "slave-2"}, false},
		{one, "/adshard.v1.Distributor/Verify", &pb.VerifyRequest{Name: "slave-2"}, false},
		{one, "/adshard.v1.Copies/Open", &pb.OpenCopyRequest{Name: "slave-2"}, false},
		{Identity{"prod", Distributor, "d"}, "/adshard.v1.Balancer/Quanta", &pb.QuantaRequest{Name: "d"}, true},
		{Identity{"prod", Distributor, "d"}, "/adshard.v1.Balancer/Quanta", &pb.QuantaRequest{Name: "balancer"}, false},
		{Identity{"prod", Master, "m"}, "/adshard.v1.Balancer/WatchMap", &pb.WatchMapRequest{Master: "m/RANDOM"}, true},
		{Identity{"prod", Master, "m"}, "/adshard.v1.Balancer/WatchMap", &pb.WatchMapRequest{Master: "n/RANDOM"}, false},
		{Identity{"prod", Master, "m"}, "/adshard.v1.Balancer/WatchMap", &pb.WatchMapRequest{}, false},
		{Identity{"prod", Slave, "s"}, "/adshard.v1.Balancer/DocumentPart", &pb.DocumentPartRequest{Name: "s"}, true},
		{Identity{"prod", Slave, "s"}, "/adshard.v1.Balancer/DocumentPart", &pb.DocumentPartRequest{Name: "t"}, false},
		{Identity{"prod", Balancer, "b"}, "/adshard.v1.Balancer/WatchMap", &pb.WatchMapRequest{}, true},
		{Identity{"prod", Balancer, "b"}, "/adshard.v1.Balancer/WatchMap", &pb.WatchMapRequest{Master: "m/RANDOM"}, false},
		{Identity{"prod", Operator, "o"}, "/adshard.v1.Balancer/Nothing", nil, false},
	} {
		err := table.Check(c.who, c.call, c.message)
		if (err == nil) != c.ok || err != nil && !fault.Is(err, fault.Forbidden) {
			t.Errorf("%v, %s %v: %v", c.who, c.call, c.message, err)
		}
	}
}

// TestTokens: the right token names its caller, all others are refused, and errors do not show the
// file's content.
func TestTokens(t *testing.T) {
	const secret, other = "0123456789abcdefghijKLMN", "zyxwvutsrqponmlkjihg"
	tokens, err := ParseTokens([]byte("# of the cluster\n\noperator alice " + secret + "\n reader  prometheus\t" + other + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if who, ok := tokens.Find(secret); !ok || who != (Identity{Role: Operator, Name: "alice"}) {
		t.Error(who, ok)
	}
	for _, wrong := range []string{"", secret + "x", secret[1:], strings.ToUpper(secret), "alice"} {
		if who, ok := tokens.Find(wrong); ok || who.Known() {
			t.Errorf("%q is the token of %v", wrong, who)
		}
	}
	for _, bad := range []string{
		"operator " + secret, "root alice " + secret, "slave alice " + secret, "operator al/ice " + secret, "operator alice short",
		"operator alice " + secret + " x", secret, "operator alice " + strings.Repeat("x", 1<<17), strings.Repeat("operator alice "+secret+"\n", 1001),
	} {
		if _, err := ParseTokens([]byte(bad)); !fault.Is(err, fault.Invalid) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "short") {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

// TestAGateTakesTokens: a wrong token is refused even if none is needed, and the certificate does
// not replace it.
func TestAGateTakesTokens(t *testing.T) {
	const secret = "0123456789abcdefghijKLMN"
	tokens, err := ParseTokens([]byte("reader prometheus " + secret))
	if err != nil {
		t.Fatal(err)
	}
	look, change := HTTPCall(AdminPort, "GET", "/v1/slaves"), HTTPCall(AdminPort, "POST", "/v1/slaves")
	operator := Identity{"prod", Operator, "o"}
	for _, c := range []struct {
		open   bool
		header string
		cert   Identity
		call   string
		ok     bool
	}{
		{false, "Bearer " + secret, Identity{}, look, true},
		{false, "bearer " + secret, Identity{}, look, true},
		{false, "Bearer " + secret, Identity{}, change, false},
		{false, "Bearer " + secret, operator, change, false},
		{false, "Bearer x" + secret, operator, look, false},
		{true, "Bearer x" + secret, Identity{}, look, false},
		{true, "Basic " + secret, Identity{}, look, false},
		{false, "", operator, change, true},
		{false, "", Identity{}, look, false},
		{true, "", Identity{}, change, true},
		{true, "", Identity{"prod", Slave, "s"}, look, false},
	} {
		refused := 0
		g := Gate{Guard{NewTable(), c.open, func(Identity, string, string, error) { refused++ }}, func() Tokens { return tokens }}
		r := httptest.NewRequest("GET", "/", nil)
		r = r.WithContext(With(context.Background(), c.cert))
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		if _, err := g.Check(r, c.call); (err == nil) != c.ok || refused != map[bool]int{true: 0, false: 1}[c.ok] {
			t.Errorf("%+v: %v, refused %d", c, err, refused)
		}
	}
}
