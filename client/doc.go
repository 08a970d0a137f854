// Package client sends requests to a cluster of adshard over HTTP: searches and explanations to its
// masters, events to its collectors, data requests to its balancers.
//
//	c, err := client.New(client.Config{Masters: []string{"http://10.0.0.5:8080", "http://10.0.0.6:8080"}})
//	answer, err := c.Search(ctx, client.SearchRequest{Query: "usb cable"})
//
// A call goes to one server. If the server cannot be reached, or refuses for a temporary reason
// (Error.Temporary), the call goes to the next one, and after all of them to the first again, after a
// pause. Repeated requests take effect only once: searches change nothing, an event is known by its
// token, and each change of data has a key. A server that could not be reached is tried last for a while.
//
// A Client keeps connections open and should be shared. The types of requests and answers are described
// in the document that each server has at /openapi.yaml.
package client
