package logsearch

const inputSchema = `{
"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"required":["data_source"],
"properties":{
"data_source":{"type":"string","description":"Id of the log data source."},
"pattern":{"type":"string","description":"RE2 regular expression; (?i) ignores case. Without one, every line matches."},
"files":{"type":"string","description":"Chooses among the files by name, such as nginx/*.log*."},
"start":{"type":"string","description":"Earliest time of a line: RFC 3339, now-1h or -1h. Not in the future."},
"end":{"type":"string","description":"Latest time of a line."},
"fields":{"type":"object","additionalProperties":{"type":"string"},"description":"Fields that a line must have with exactly these values, when lines are JSON or logfmt. Fields of JSON objects inside are named by their path, such as log.level."},
"context":{"type":"integer","minimum":0,"maximum":10,"description":"Lines shown before and after each match."},
"max":{"type":"integer","minimum":1,"description":"Most matching lines shown; default 50."}}}`

const outputSchema = `{
"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["scope","searched","matched","lines","returned","truncated"],
"properties":{
"scope":{"type":"object","description":"What was asked."},
"searched":{"type":"object","description":"What was read: files, lines, and the first and last time in them."},
"matched":{"type":"integer","description":"Every match, also those that are not shown."},
"undated":{"type":"integer","description":"Matches without a time, which counts leaves out."},
"interval":{"type":"string"},
"counts":{"type":"array","description":"[begin of interval, matches]; intervals without matches are left out.","items":{"type":"array"}},
"lines":{"type":"array","description":"Newest first.","items":{"type":"object","required":["at","text"],"properties":{
"at":{"type":"string","description":"file:line"},"time":{"type":"string"},"text":{"type":"string"},
"before":{"type":"array","items":{"type":"string"}},"after":{"type":"array","items":{"type":"string"}}}}},
"returned":{"type":"integer"},
"incomplete":{"type":"boolean","description":"True when some files or lines could not be read or were left out."},
"truncated":{"type":"boolean"},
"truncated_by":{"type":"array","items":{"enum":["lines","cells","counts","bytes"]}},
"note":{"type":"string"}}}`
