// Package client asks a cluster of adshard over HTTP: searches and explanations of its masters, events of
// its collectors, data of its balancers.
//
//	c, err := client.New(client.Config{Masters: []string{"http://10.0.0.5:8080", "http://10.0.0.6:8080"}})
//	answer, err := c.Search(ctx, client.SearchRequest{Query: "usb cable"})
//
// A call goes to one server. If it cannot be reached, or refuses for a temporary reason
// (Error.Temporary), the next one is asked, and after all of them the first again, after a pause.
// Repeated requests take effect once: searches change nothing, an event is known by its token, and
// each change of data has a key. A server that could not be reached is asked last for a while.
//
// A Client keeps connections open and should be shared. The types of requests and answers are those
// of the document that each server has at /openapi.yaml.
package client
