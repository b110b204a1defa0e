package promquery

const inputSchema = `{
"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"required":["data_source","query"],
"properties":{
"data_source":{"type":"string","description":"Id of the metrics data source."},
"query":{"type":"string","description":"One PromQL expression. Each selector names one metric: http_requests_total{code=\"500\"}."},
"time":{"type":["string","number"],"description":"Instant of the evaluation; default now. RFC 3339, Unix seconds, or now-5m."},
"start":{"type":["string","number"],"description":"Start of a range; makes this a range query."},
"end":{"type":["string","number"],"description":"End of the range; default now."},
"step":{"type":["string","number"],"description":"Distance of the evaluations, such as 1m; default fits the range."}}}`

const outputSchema = `{
"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["scope","series","returned","truncated"],
"properties":{
"scope":{"type":"object","description":"What was asked: the query as it ran, and when."},
"series":{"type":"array","items":{"type":"object","required":["labels"],"properties":{
"labels":{"type":"object","additionalProperties":{"type":"string"}},
"value":{"type":["number","string"],"description":"The value at the instant."},
"samples":{"type":"integer","description":"How many samples min, max, mean and last are made of."},
"min":{"type":["number","string"]},"max":{"type":["number","string"]},"mean":{"type":["number","string"]},"last":{"type":["number","string"]},
"points":{"type":"array","description":"[time, value]; real samples, evenly chosen when there are more than fit.","items":{"type":"array"}}}}},
"returned":{"type":"integer"},
"incomplete":{"type":"boolean","description":"True when the source itself had only a part of the data."},
"truncated":{"type":"boolean"},
"truncated_by":{"type":"array","items":{"enum":["series","points","cells","bytes"]}},
"note":{"type":"string"}}}`
