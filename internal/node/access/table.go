package access

import (
	"fmt"
	"slices"
	"strings"

	"adshard/fault"
)

// Rule says who may make a call.
type Rule struct {
	// Call is the full name of a gRPC method, or "PORT METHOD PATTERN" of an HTTP port.
	Call string
	// Roles are the roles that may make the call. Anyone opens the call to all callers, with or without an
	// identity.
	Roles  []Role
	Anyone bool
	// AnySite lets a page of any site have a browser send the call, under any name of the port: the call
	// changes nothing, and shows no bids, spends or data, only ads and the cost of each (httpapi.Names).
	AnySite bool
	// Name returns the sender that the message of a call claims, which must be the caller's name. If Name
	// is nil, the message claims no sender.
	Name func(message any) string
}

// The HTTP ports, as the names of calls spell them.
const (
	AdminPort = "admin"
	QueryPort = "query"
	EventPort = "event"
)

// HTTPCall returns the name of a call of an HTTP port.
func HTTPCall(port, method, pattern string) string { return port + " " + method + " " + pattern }

// Table holds the rules by call. Make it with NewTable.
type Table map[string]Rule

// NewTable returns the rules of all calls of all ports.
func NewTable() Table {
	t := make(Table)
	for _, r := range slices.Concat(peerRules(), queryRules(), adminRules()) {
		t[r.Call] = r
	}
	return t
}

// peerRules returns the rules of the calls between the parts of a cluster.
func peerRules() []Rule {
	service := func(name string) func(method string, roles ...Role) Rule {
		return func(method string, roles ...Role) Rule {
			return Rule{Call: "/adshard.v1." + name + "/" + method, Roles: roles}
		}
	}
	named := func(r Rule) Rule { r.Name = nameOf; return r }
	balancer, distributor, slave, copies := service("Balancer"), service("Distributor"), service("Slave"), service("Copies")
	return []Rule{
		named(balancer("Register", Slave)),
		named(balancer("Report", Slave)),
		{Call: balancer("WatchMap").Call, Roles: []Role{Master, Balancer}, Name: masterOf},
		named(balancer("Quanta", Distributor)),
		balancer("Lead", Master, Slave, Distributor, Balancer),
		{Call: balancer("EventKeys").Call, Roles: []Role{Master}, Name: masterOf},
		named(balancer("WatchDocuments", Master, Slave)),
		named(balancer("DocumentPart", Master, Slave)),

		named(distributor("Enlist", Slave)),
		named(distributor("Pull", Slave)),
		named(distributor("Part", Slave)),
		named(distributor("Verify", Slave)),

		slave("Stream", Master),
		slave("Explain", Master),
		slave("Map", Master, Balancer), // a balancer asks which slave is at an address
		slave("Certify", Balancer),
		slave("Discard", Balancer),
		slave("Adopt", Balancer),

		named(copies("Open", Slave)),
		copies("Sums", Slave), // these calls name a lease that Open returned, which is a secret
		copies("Read", Slave),
		copies("Release", Slave),
	}
}

// nameOf returns the name in a request.
func nameOf(message any) string {
	if m, ok := message.(interface{ GetName() string }); ok {
		return m.GetName()
	}
	return ""
}

// masterOf returns the name of the master that asks for a map: the message has "NAME/RANDOM".
func masterOf(message any) string {
	m, ok := message.(interface{ GetMaster() string })
	if !ok {
		return ""
	}
	name := m.GetMaster()
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[:at]
	}
	return name
}

// queryRules returns the rules of the ports for users: a master's port for queries and a collector's port
// for events. Anyone who reaches these ports may search, and the token of an event says what the event
// counts for.
func queryRules() []Rule {
	anyone := func(call string) Rule { return Rule{Call: call, Anyone: true} }
	anywhere := func(port, method, path string) Rule {
		return Rule{Call: HTTPCall(port, method, path), Anyone: true, AnySite: true}
	}
	return []Rule{
		anyone("/adshard.v1.Master/Search"),
		anywhere(QueryPort, "GET", "/v1/search"),
		anywhere(QueryPort, "POST", "/v1/search"),
		anyone(HTTPCall(QueryPort, "GET", "/v1/explain")), // if the setting `explain` puts it on this port
		anywhere(QueryPort, "GET", "/openapi.yaml"),
		anywhere(EventPort, "POST", "/v1/events"), // sent by pages with ads
	}
}

// adminRules returns the rules of admin ports. Readers may make the calls that change nothing.
func adminRules() []Rule {
	rule := func(method, pattern string, roles ...Role) Rule {
		return Rule{Call: HTTPCall(AdminPort, method, pattern), Roles: roles}
	}
	probe := func(pattern string) Rule { return Rule{Call: HTTPCall(AdminPort, "GET", pattern), Anyone: true} }
	// Probes and Prometheus call a port by names that the port does not know.
	anywhere := func(r Rule) Rule { r.AnySite = true; return r }
	look := func(pattern string) Rule { return rule("GET", pattern, Reader, Operator) }
	change := func(pattern string) Rule { return rule("POST", pattern, Operator) }
	measure := func(pattern string) Rule { return rule("GET", pattern, Operator) } // takes time and shows memory
	return append(dataRules(), []Rule{
		anywhere(probe("/livez")), anywhere(probe("/readyz")), probe("/openapi.yaml"),
		anywhere(look("/metrics")),
		measure("/debug/pprof/"), measure("/debug/pprof/cmdline"), measure("/debug/pprof/profile"),
		measure("/debug/pprof/symbol"), measure("/debug/pprof/trace"), measure("/debug/slow"),
		look("/v1/explain"),
		change("/v1/campaigns/{id}/budget"),
		look("/v1/slaves"), change("/v1/slaves"), change("/v1/slaves/{name}/drain"), change("/v1/slaves/{name}/remove"),
		look("/v1/balance"), look("/v1/balance/slices"), look("/v1/balance/plan"), look("/v1/balance/why/{slice}"),
		look("/v1/balance/strategies"), change("/v1/balance/strategy"), look("/v1/balance/history"),
		change("/v1/balance/move"), change("/v1/balance/replicas"), change("/v1/balance/pause"), change("/v1/balance/resume"),
		probe("/console/static/{name}"), {Call: SignIn, Anyone: true}, {Call: SignOut, Anyone: true},
		look("/console/"), look("/console/overview"), look("/console/balancing"), look("/console/slices"), look("/console/slices/{slice}"), look("/console/heat.png"),
		look("/console/import"), change("/console/import"), look("/console/data"), look("/console/data/{kind}/{id}"), change("/console/data/{kind}/{id}"),
		look("/console/blocklists"), change("/console/blocklists"), look("/console/blocklists/{name}"), change("/console/blocklists/{name}"),
		look("/console/query"), change("/console/do/{action}"),
	}...)
}

// dataRules returns the rules of the calls for data, on a balancer's admin port.
func dataRules() []Rule {
	look := func(pattern string) Rule {
		return Rule{Call: HTTPCall(AdminPort, "GET", pattern), Roles: []Role{Reader, Operator}}
	}
	change := func(method, pattern string) Rule {
		return Rule{Call: HTTPCall(AdminPort, method, pattern), Roles: []Role{Operator}}
	}
	all := []Rule{look("/v1/changes"), look("/v1/export"), change("POST", "/v1/batch"), look("/v1/imports"), change("POST", "/v1/imports")}
	all = append(all, look("/v1/blocklists"), change("POST", "/v1/blocklists"), look("/v1/blocklists/{name}"), change("PATCH", "/v1/blocklists/{name}"),
		change("DELETE", "/v1/blocklists/{name}"), look("/v1/locations"))
	for _, kind := range []string{"advertisers", "campaigns", "groups", "keywords", "negatives", "ads"} {
		list := "/v1/" + kind
		one := list + "/{id}"
		all = append(all, look(list), change("POST", list), look(one), change("PATCH", one), change("DELETE", one))
	}
	return all
}

// SignIn and SignOut are the console's forms with which a browser gets and gives back a cookie. They
// change nothing in the cluster.
const (
	SignIn  = AdminPort + " POST /console/login"
	SignOut = AdminPort + " POST /console/logout"
)

// Check returns nil if a caller may make a call, and otherwise says why not. `message` is the message of
// the call, or nil if it has not been read yet. Errors: fault.Forbidden.
func (t Table) Check(who Identity, call string, message any) error {
	r, ok := t[call]
	switch {
	case !ok:
		return fault.Newf(fault.Forbidden, op, "%s is open to no role", call)
	case r.Anyone:
		return nil
	case !who.Known():
		return fault.Newf(fault.Forbidden, op, "%s is for the %s: show a certificate of this cluster", call, listed(r.Roles))
	case !slices.Contains(r.Roles, who.Role):
		return fault.Newf(fault.Forbidden, op, "%s is for the %s, not for the %s", call, listed(r.Roles), who)
	}
	if r.Name == nil || message == nil {
		return nil
	}
	if name := r.Name(message); name != who.Name && !(name == "" && who.Role == Balancer) {
		return fault.Newf(fault.Forbidden, op, "the %s makes a call of %s in the name of %q; a certificate is only for its own name",
			who, call, name)
	}
	return nil
}

func listed(roles []Role) string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return fmt.Sprintf("role %s", strings.Join(names, " or "))
}
