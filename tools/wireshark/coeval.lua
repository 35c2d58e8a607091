-- A Wireshark dissector for coeval connections. docs/protocol.md says what the bytes
-- mean; README.md beside this file how to install and use it.
--
-- Of the handshake nearly everything is in clear, of a data packet five bytes are. The rest
-- is shown if the preference "Key log file" names a file with the keys that an
-- end of the connection wrote (Options.KeyLog of package conn). Wireshark's Lua cannot
-- decrypt by itself in all versions, so AES-GCM is done here.

local coeval = Proto("coeval", "coeval connection")

----------------------------------------------------------------------------
-- Arithmetic on 32 bits, which each version of Lua has in another place.

local band, bxor, rshift, lshift
if bit32 then
    band, bxor, rshift, lshift = bit32.band, bit32.bxor, bit32.rshift, bit32.lshift
elseif bit then
    band, bxor, rshift, lshift = bit.band, bit.bxor, bit.rshift, bit.lshift
else
    -- Lua 5.3 and later have operators, which earlier ones could not even read.
    band, bxor, rshift, lshift = load([[
        return function(a, b) return a & b end, function(a, b) return a ~ b end,
            function(a, n) return (a & 0xffffffff) >> n end, function(a, n) return (a << n) & 0xffffffff end
    ]])()
end

-- u32 makes a number of 32 bits positive, which some of these libraries do not.
local function u32(x) return x % 4294967296 end

local function word(s, i)
    local a, b, c, d = s:byte(i, i + 3)
    return ((a * 256 + b) * 256 + c) * 256 + d
end

-- words cuts a string into words, as if followed by zeros up to the next block of 16 bytes.
local function words(s)
    local out = {}
    local rest = #s % 16
    if rest > 0 then s = s .. string.rep("\0", 16 - rest) end
    for i = 1, #s, 4 do out[#out + 1] = word(s, i) end
    return out
end

local function unhex(s)
    return (s:gsub("%x%x", function(h) return string.char(tonumber(h, 16)) end))
end

----------------------------------------------------------------------------
-- AES-128, encryption only, by tables (FIPS 197).

local sbox, t0, t1, t2, t3 = {}, {}, {}, {}, {}

local function double(x)
    x = x * 2
    if x >= 256 then x = bxor(x, 0x11b) end
    return x
end

do
    -- Powers of 3 run through all that is not zero, so logarithms give inverses.
    local power, log = {}, {}
    local x = 1
    for i = 0, 254 do
        power[i], log[x] = x, i
        x = bxor(x, double(x))
    end
    for v = 0, 255 do
        local inverse = 0
        if v > 0 then inverse = power[(255 - log[v]) % 255] end
        local s, r = inverse, inverse
        for _ = 1, 4 do
            r = r * 2
            if r >= 256 then r = r - 255 end
            s = bxor(s, r)
        end
        s = bxor(s, 0x63)
        sbox[v] = s
        local s2 = double(s)
        local s3 = bxor(s2, s)
        t0[v] = ((s2 * 256 + s) * 256 + s) * 256 + s3
        t1[v] = ((s3 * 256 + s2) * 256 + s) * 256 + s
        t2[v] = ((s * 256 + s3) * 256 + s2) * 256 + s
        t3[v] = ((s * 256 + s) * 256 + s3) * 256 + s2
    end
end

local function substitute(w)
    return ((sbox[rshift(w, 24)] * 256 + sbox[band(rshift(w, 16), 255)]) * 256 + sbox[band(rshift(w, 8), 255)]) * 256 + sbox[band(w, 255)]
end

local function expand_key(key)
    local k = { word(key, 1), word(key, 5), word(key, 9), word(key, 13) }
    local constant = 1
    for i = 5, 44 do
        local t = k[i - 1]
        if i % 4 == 1 then
            t = substitute(u32(t * 256 + rshift(t, 24)))
            t = u32(bxor(t, constant * 16777216))
            constant = double(constant)
        end
        k[i] = u32(bxor(k[i - 4], t))
    end
    return k
end

local function encrypt(k, a, b, c, d)
    a, b, c, d = bxor(a, k[1]), bxor(b, k[2]), bxor(c, k[3]), bxor(d, k[4])
    local n = 5
    for _ = 1, 9 do
        local e = bxor(bxor(bxor(t0[rshift(a, 24)], t1[band(rshift(b, 16), 255)]), bxor(t2[band(rshift(c, 8), 255)], t3[band(d, 255)])), k[n])
        local f = bxor(bxor(bxor(t0[rshift(b, 24)], t1[band(rshift(c, 16), 255)]), bxor(t2[band(rshift(d, 8), 255)], t3[band(a, 255)])), k[n + 1])
        local g = bxor(bxor(bxor(t0[rshift(c, 24)], t1[band(rshift(d, 16), 255)]), bxor(t2[band(rshift(a, 8), 255)], t3[band(b, 255)])), k[n + 2])
        local h = bxor(bxor(bxor(t0[rshift(d, 24)], t1[band(rshift(a, 16), 255)]), bxor(t2[band(rshift(b, 8), 255)], t3[band(c, 255)])), k[n + 3])
        a, b, c, d = e, f, g, h
        n = n + 4
    end
    local function last(p, q, r, s, key)
        local v = ((sbox[rshift(p, 24)] * 256 + sbox[band(rshift(q, 16), 255)]) * 256 + sbox[band(rshift(r, 8), 255)]) * 256 + sbox[band(s, 255)]
        return u32(bxor(v, key))
    end
    return last(a, b, c, d, k[41]), last(b, c, d, a, k[42]), last(c, d, a, b, k[43]), last(d, a, b, c, k[44])
end

----------------------------------------------------------------------------
-- GCM (NIST SP 800-38D), four bits at a time.

-- reduction is what four bits that leave on the right bring back on the left.
local reduction = {}
for r = 0, 15 do
    local v = 0
    for b = 0, 3 do
        if math.floor(r / 2 ^ b) % 2 == 1 then v = bxor(v, rshift(0xe1000000, 3 - b)) end
    end
    reduction[r] = u32(v)
end

-- multiples is H times each polynomial of four bits.
local function multiples(k)
    local m = { [0] = { 0, 0, 0, 0 } }
    local a, b, c, d = encrypt(k, 0, 0, 0, 0)
    for _, i in ipairs { 8, 4, 2, 1 } do
        m[i] = { a, b, c, d }
        local out = band(d, 1)
        d = bxor(rshift(d, 1), lshift(band(c, 1), 31))
        c = bxor(rshift(c, 1), lshift(band(b, 1), 31))
        b = bxor(rshift(b, 1), lshift(band(a, 1), 31))
        a = rshift(a, 1)
        if out == 1 then a = bxor(a, 0xe1000000) end
    end
    for i = 3, 15 do
        if not m[i] then
            local high = 8
            while high > i do high = high / 2 end
            local p, q = m[high], m[i - high]
            m[i] = { bxor(p[1], q[1]), bxor(p[2], q[2]), bxor(p[3], q[3]), bxor(p[4], q[4]) }
        end
    end
    return m
end

local function ghash(m, blocks)
    local a, b, c, d = 0, 0, 0, 0
    for i = 1, #blocks, 4 do
        local x = { bxor(a, blocks[i]), bxor(b, blocks[i + 1]), bxor(c, blocks[i + 2]), bxor(d, blocks[i + 3]) }
        a, b, c, d = 0, 0, 0, 0
        for w = 4, 1, -1 do
            local v = x[w]
            for shift = 0, 28, 4 do
                local back = reduction[band(d, 15)]
                d = bxor(rshift(d, 4), lshift(band(c, 15), 28))
                c = bxor(rshift(c, 4), lshift(band(b, 15), 28))
                b = bxor(rshift(b, 4), lshift(band(a, 15), 28))
                a = bxor(rshift(a, 4), back)
                local t = m[band(rshift(v, shift), 15)]
                a, b, c, d = bxor(a, t[1]), bxor(b, t[2]), bxor(c, t[3]), bxor(d, t[4])
            end
        end
    end
    return a, b, c, d
end

local tag_size = 12

-- find_number tries packet numbers until the tag fits, and returns the one that does.
local function find_number(key, to_client, aad, sealed, numbers)
    local text = sealed:sub(1, #sealed - tag_size)
    local blocks = words(aad)
    for _, w in ipairs(words(text)) do blocks[#blocks + 1] = w end
    for _, w in ipairs { 0, #aad * 8, 0, #text * 8 } do blocks[#blocks + 1] = w end
    local a, b, c = ghash(key.multiples, blocks)
    -- What the cipher must have made of the first counter, if this is the number.
    a = u32(bxor(a, word(sealed, #text + 1)))
    b = u32(bxor(b, word(sealed, #text + 5)))
    c = u32(bxor(c, word(sealed, #text + 9)))
    local first = key.iv[1] % 2147483648
    if to_client then first = first + 2147483648 end
    for n in numbers do
        local x, y, z = encrypt(key.schedule, first, key.iv[2], bxor(key.iv[3], n), 1)
        if x == a and y == b and z == c then return n end
    end
end

-- decrypt is counter mode; find_number has seen to it that the packet is genuine.
local function decrypt(key, to_client, n, sealed)
    local text = words(sealed:sub(1, #sealed - tag_size))
    local first = key.iv[1] % 2147483648
    if to_client then first = first + 2147483648 end
    local out = {}
    for i = 1, #text, 4 do
        local block = { encrypt(key.schedule, first, key.iv[2], bxor(key.iv[3], n), (i + 3) / 4 + 1) }
        for j = 1, 4 do
            local v = u32(bxor(block[j], text[i + j - 1]))
            out[#out + 1] = string.char(rshift(v, 24), band(rshift(v, 16), 255), band(rshift(v, 8), 255), band(v, 255))
        end
    end
    return table.concat(out):sub(1, #sealed - tag_size)
end

----------------------------------------------------------------------------
-- The key log.

coeval.prefs.keylog = Pref.string("Key log file", "", "File with the lines that Options.KeyLog of package conn gives; with it the sealed parts are shown")

local by_client, by_server, by_both, log_error, log_name

-- add_key takes a line of the log. A connection whose keys are renewed has several; its packets are
-- numbered through.
local function add_key(line)
    local client, server, key, iv = line:match("^COEVAL (%x+) (%x+) (%x+) (%x+)%s*$")
    if not client or #key ~= 32 or #iv ~= 24 then return end
    iv = unhex(iv)
    local k = { client = tonumber(client, 16), server = tonumber(server, 16), schedule = expand_key(unhex(key)),
        iv = { word(iv, 1), word(iv, 5), word(iv, 9) } }
    local both = k.client .. " " .. k.server
    by_both[both] = by_both[both] or {}
    k.largest = by_both[both]
    k.multiples = multiples(k.schedule)
    by_client[k.client] = by_client[k.client] or {}
    by_server[k.server] = by_server[k.server] or {}
    table.insert(by_client[k.client], k)
    table.insert(by_server[k.server], k)
end

local lines_read = 0

-- read_log takes lines that were not there before, since an end may still be writing.
local function read_log()
    local name = coeval.prefs.keylog
    if name ~= log_name then
        by_client, by_server, by_both, lines_read, log_name = {}, {}, {}, 0, name
    end
    log_error = nil
    if name == "" then return end
    local ok, err = pcall(function()
        local f, why = io.open(name, "r")
        if not f then error(why, 0) end
        local n = 0
        for line in f:lines() do
            n = n + 1
            if n > lines_read then add_key(line) end
        end
        lines_read = math.max(n, lines_read)
        f:close()
    end)
    if not ok then log_error = "the key log cannot be read: " .. tostring(err) end
end

----------------------------------------------------------------------------
-- What is known of the packets seen so far. Packets may be looked at again in any
-- order, so what was found out about each the first time is kept.

local opened -- by frame: number, direction and content of a packet that was opened, or false
local known  -- by end and identifier: connections that data packets belong to

function coeval.init()
    opened, known, log_name = {}, {}, nil
    read_log()
end

local function expand(near, low)
    local n = near - near % 65536 + low
    if n - near > 32768 then n = n - 65536 elseif near - n >= 32768 then n = n + 65536 end
    return n
end

-- candidates are the full numbers that a packet may have, likely ones first. In
-- the middle of a connection that was not seen from the beginning it may be any; those
-- above 2^28 are not tried.
local function candidates(largest, low)
    local list = {}
    if largest then
        list[1] = expand(largest, low)
    else
        for high = 0, 4095 do list[#list + 1] = high * 65536 + low end
    end
    local i = 0
    return function()
        i = i + 1
        return list[i]
    end
end

local function open_with(keys, to_client, aad, sealed, low)
    local function try(k, largest)
        local n = find_number(k, to_client, aad, sealed, candidates(largest, low))
        if not n then return end
        if not largest and k.largest[to_client] then
            k.largest = {} -- another connection, with the same identifiers
        end
        k.used = true
        k.largest[to_client] = math.max(n, k.largest[to_client] or 0)
        local peer = k.largest[not to_client]
        return { key = k, number = n, to_client = to_client, peer = peer, plain = decrypt(k, to_client, n, sealed) }
    end
    for i = #keys, 1, -1 do
        local o = keys[i].largest[to_client] and try(keys[i], keys[i].largest[to_client])
        if o then return o end
    end
    for i = #keys, 1, -1 do
        local o = not (keys[i].used and keys[i].largest[to_client]) and try(keys[i])
        if o then return o end
    end
end

-- open_data opens a data packet, if there is a key that fits.
local function open_data(tvb, pinfo)
    local frame = pinfo.number
    if opened[frame] == nil then
        local id = band(tvb(0, 3):uint(), 0x7ffff)
        local aad, sealed, low = tvb:raw(0, 5), tvb:raw(5), tvb(3, 2):uint()
        local function try()
            return open_with(by_client[id] or {}, true, aad, sealed, low)
                or open_with(by_server[id] or {}, false, aad, sealed, low) or false
        end
        opened[frame] = try()
        if not opened[frame] and (by_client[id] or by_server[id]) then
            local lines = lines_read -- keys may have been renewed
            read_log()
            if lines_read > lines then opened[frame] = try() end
        end
    end
    return opened[frame]
end

-- open_accept does the same for an accept, which is packet 0 to the client.
local function open_accept(tvb, pinfo)
    local frame = pinfo.number
    if opened[frame] == nil then
        local id = tvb(2, 3):uint()
        if not by_client[id] then read_log() end
        opened[frame] = false
        for _, k in ipairs(by_client[id] or {}) do
            local zero = 0
            local numbers = function()
                local n = zero
                zero = nil
                return n
            end
            local sealed = tvb:raw(69)
            if find_number(k, true, tvb:raw(0, 69), sealed, numbers) then
                if not k.used then k.largest = { [true] = 0, [false] = 0 } end
                by_both[k.client .. " " .. k.server] = k.largest
                for _, other in ipairs(by_client[id]) do
                    if other.server == k.server and not other.used then other.largest = k.largest end
                end
                k.used = true
                opened[frame] = { key = k, plain = decrypt(k, true, 0, sealed) }
            end
        end
    end
    return opened[frame]
end

----------------------------------------------------------------------------
-- Fields.

local types = { [1] = "request", [2] = "challenge", [3] = "response", [4] = "accept", [5] = "refusal", [128] = "data" }
local reasons = {
    [1] = "server full", [2] = "token expired", [3] = "wrong game", [4] = "wrong version", [5] = "banned",
    [6] = "server closing", [7] = "token already used", [8] = "token for another server", [9] = "token unreadable",
    [10] = "timed out", [11] = "left", [12] = "replaced by the same player", [13] = "protocol violation",
    [14] = "never acknowledges", [15] = "keys worn out", [16] = "too many from one address",
}
local frames = { [0] = "control", "unreliable", "newest", "ordered", "unordered", "fragment", "bulk" }
local controls = { [0] = "ping", "clock", "path challenge", "path answer", "close", "ticket", "cancel" }
local whose = { [0] = "the sender's", "the receiver's" }

local f = {
    type = ProtoField.uint8("coeval.type", "Packet", base.HEX, types),
    version = ProtoField.uint8("coeval.version", "Wire version"),
    protocol = ProtoField.uint64("coeval.protocol", "Game", base.HEX),
    game_version = ProtoField.uint32("coeval.game_version", "Version of the game"),
    client_nonce = ProtoField.bytes("coeval.client_nonce", "Client nonce"),
    zeros = ProtoField.bytes("coeval.zeros", "Zeros"),
    cookie = ProtoField.bytes("coeval.cookie", "Cookie"),
    client = ProtoField.uint24("coeval.client", "Client identifier", base.HEX),
    server = ProtoField.uint24("coeval.server", "Server identifier", base.HEX),
    datagram = ProtoField.uint16("coeval.datagram", "Largest datagram"),
    letter = ProtoField.bytes("coeval.letter", "Sealed letter"),
    letter_length = ProtoField.uint16("coeval.letter.length", "Length of the letter"),
    letter_version = ProtoField.uint8("coeval.letter.version", "Version"),
    letter_protocol = ProtoField.uint64("coeval.letter.protocol", "Game", base.HEX),
    letter_expires = ProtoField.absolute_time("coeval.letter.expires", "Expires", base.UTC),
    letter_nonce = ProtoField.bytes("coeval.letter.nonce", "Nonce"),
    letter_sealed = ProtoField.bytes("coeval.letter.sealed", "Grant, sealed for the server"),
    proof = ProtoField.bytes("coeval.proof", "Proof"),
    share = ProtoField.bytes("coeval.share", "Share (X25519)"),
    server_nonce = ProtoField.bytes("coeval.server_nonce", "Server nonce"),
    reason = ProtoField.uint8("coeval.reason", "Reason", base.DEC, reasons),
    ack_form = ProtoField.uint24("coeval.ack.form", "Form of the acknowledgement", base.DEC, nil, 0x700000),
    key_phase = ProtoField.uint24("coeval.key_phase", "Key phase", base.DEC, nil, 0x080000),
    receiver = ProtoField.uint24("coeval.receiver", "Identifier of the receiver", base.HEX, nil, 0x07ffff),
    low = ProtoField.uint16("coeval.number.low", "Low bits of the number"),
    number = ProtoField.uint32("coeval.number", "Packet number"),
    direction = ProtoField.string("coeval.direction", "Direction"),
    sealed = ProtoField.bytes("coeval.sealed", "Sealed"),
    tag = ProtoField.bytes("coeval.tag", "Tag"),
    no_key = ProtoField.string("coeval.no_key", "Not decrypted"),
    ack = ProtoField.uint16("coeval.ack", "Acknowledges, low bits"),
    ack_number = ProtoField.uint32("coeval.ack.number", "Acknowledges"),
    ack_delay = ProtoField.uint32("coeval.ack.delay", "Received before, µs"),
    ack_bits = ProtoField.bytes("coeval.ack.bits", "Packets before that"),
    frame = ProtoField.none("coeval.frame", "Frame"),
    frame_type = ProtoField.uint8("coeval.frame.type", "Type", base.DEC, frames, 0x70),
    channel = ProtoField.uint8("coeval.channel", "Channel", base.DEC, nil, 0x0f),
    length = ProtoField.uint16("coeval.length", "Length"),
    message_number = ProtoField.uint16("coeval.message.number", "Message number"),
    message = ProtoField.bytes("coeval.message", "Message"),
    fragment_index = ProtoField.uint8("coeval.fragment.index", "Fragment"),
    fragment_last = ProtoField.uint8("coeval.fragment.last", "Last fragment"),
    fragment = ProtoField.bytes("coeval.fragment", "Part of the message"),
    transfer = ProtoField.uint8("coeval.transfer", "Transfer"),
    chunk = ProtoField.uint24("coeval.chunk", "Chunk"),
    transfer_size = ProtoField.uint32("coeval.transfer.size", "Size of the transfer"),
    chunk_size = ProtoField.uint16("coeval.chunk.size", "Size of a chunk"),
    transfer_tag = ProtoField.uint32("coeval.transfer.tag", "Tag of the transfer", base.HEX),
    chunk_data = ProtoField.bytes("coeval.chunk.data", "Content"),
    control = ProtoField.uint8("coeval.control", "Control", base.DEC, controls, 0x0f),
    clock = ProtoField.int64("coeval.clock", "Sender's clock, µs"),
    path = ProtoField.bytes("coeval.path", "Proof of path"),
    note = ProtoField.string("coeval.note", "Note"),
    ticket = ProtoField.bytes("coeval.ticket", "Ticket"),
    whose = ProtoField.uint8("coeval.cancel.whose", "Whose", base.DEC, whose),
}
local list = {}
for _, field in pairs(f) do list[#list + 1] = field end
coeval.fields = list

local violation = ProtoExpert.new("coeval.violation", "Against the protocol", expert.group.PROTOCOL, expert.severity.WARN)
local no_log = ProtoExpert.new("coeval.no_log", "Key log", expert.group.UNDECODED, expert.severity.WARN)
coeval.experts = { violation, no_log }

local function complain(tree, text) tree:add_proto_expert_info(violation, text) end

----------------------------------------------------------------------------
-- The handshake.

local function show_letter(range, tree)
    local t = tree:add(f.letter, range)
    if range:len() < 57 then return complain(t, "The letter is too short") end
    t:add(f.letter_version, range(0, 1))
    t:add(f.letter_protocol, range(1, 8))
    t:add(f.letter_expires, range(9, 8), NSTime.new(range(9, 8):uint64():tonumber()))
    t:add(f.letter_nonce, range(17, 24))
    t:add(f.letter_sealed, range(41))
end

local function show_reason(tree, range)
    local item = tree:add(f.reason, range)
    if range:uint() >= 64 then item:append_text(" (the game's own)") end
    return reasons[range:uint()] or ("reason " .. range:uint())
end

local handshakes = {
    [1] = function(tvb, _, tree)
        tree:add(f.protocol, tvb(2, 8))
        tree:add(f.game_version, tvb(10, 4))
        tree:add(f.client_nonce, tvb(14, 16))
        local zeros = tree:add(f.zeros, tvb(30, 34))
        if tvb:raw(30, 34):find("[^%z]") then complain(zeros, "Not all of these are zero") end
    end,
    [2] = function(tvb, _, tree)
        tree:add(f.client_nonce, tvb(2, 16))
        tree:add(f.cookie, tvb(18, 20))
    end,
    [3] = function(tvb, _, tree)
        tree:add(f.protocol, tvb(2, 8))
        tree:add(f.game_version, tvb(10, 4))
        tree:add(f.client_nonce, tvb(14, 16))
        tree:add(f.cookie, tvb(30, 20))
        tree:add(f.client, tvb(50, 3))
        tree:add(f.datagram, tvb(53, 2))
        tree:add(f.share, tvb(55, 32))
        tree:add(f.letter_length, tvb(87, 2))
        show_letter(tvb(89, tvb:len() - 105), tree)
        tree:add(f.proof, tvb(tvb:len() - 16, 16))
        return string.format("client %05x", tvb(50, 3):uint())
    end,
    [4] = function(tvb, pinfo, tree)
        tree:add(f.client, tvb(2, 3))
        tree:add(f.server_nonce, tvb(5, 16))
        tree:add(f.share, tvb(21, 32))
        tree:add(f.proof, tvb(53, 16))
        local sealed = tree:add(f.sealed, tvb(69, 5))
        tree:add(f.tag, tvb(74, 12))
        local info = string.format("client %05x", tvb(2, 3):uint())
        local o = open_accept(tvb, pinfo)
        if not o then return info, sealed end
        local plain = ByteArray.new(o.plain, true):tvb("Decrypted accept")
        tree:add(f.server, plain(0, 3))
        tree:add(f.datagram, plain(3, 2))
        return string.format("%s, server %05x", info, plain(0, 3):uint())
    end,
    [5] = function(tvb, _, tree)
        tree:add(f.client_nonce, tvb(2, 16))
        local why = show_reason(tree, tvb(18, 1))
        local proof = tree:add(f.proof, tvb(19, 16))
        if not tvb:raw(19, 16):find("[^%z]") then proof:append_text(" (unproved)") end
        return why
    end,
}

-- handshake_kind tells which handshake packet this is, by its first bytes and its length.
local function handshake_kind(tvb)
    local n = tvb:len()
    if n < 35 or tvb(1, 1):uint() ~= 2 then return end
    local kind = tvb(0, 1):uint()
    if kind == 1 and n == 64 or kind == 2 and n == 38 or kind == 5 and n == 35 then return kind end
    if kind == 4 and n == 86 and tvb(2, 1):uint() < 8 then return kind end
    if kind == 3 and n > 105 and tvb(87, 2):uint() == n - 105 then return kind end
end

----------------------------------------------------------------------------
-- What is inside a data packet.

local ack_bytes = { [0] = 0, 0, 1, 2, 4, 8, 16, 32 }

local function delay_of(b)
    local e, m = math.floor(b / 32), b % 32
    if e == 0 then return m * 64 end
    return (32 + m) * 2 ^ (e - 1) * 64
end

-- show_ack returns where the frames begin, or nothing.
local function show_ack(plain, form, o, tree)
    if form == 0 then return 0, "" end
    local size = 3 + ack_bytes[form]
    if plain:len() < size then return end
    local low = plain(0, 2):uint()
    local item = tree:add(f.ack, plain(0, 2))
    local number = low
    if o.peer then
        number = expand(o.peer, low)
        tree:add(f.ack_number, plain(0, 2), number):set_generated()
    end
    local delay = plain(2, 1):uint()
    if delay == 255 then
        item:append_text(", received some time before")
    else
        tree:add(f.ack_delay, plain(2, 1), delay_of(delay))
    end
    if form == 1 then
        item:append_text(" and all of the 64 before")
    else
        tree:add(f.ack_bits, plain(3, size - 3))
    end
    return size, "ack " .. number
end

local show_control = {
    [0] = function(body, tree)
        if body:len() ~= 0 then complain(tree, "A ping has no content") end
    end,
    [1] = function(body, tree)
        if body:len() ~= 8 then return complain(tree, "A clock has eight bytes") end
        tree:add(f.clock, body(0, 8))
    end,
    [2] = function(body, tree)
        if body:len() ~= 8 then return complain(tree, "A path challenge has eight bytes") end
        tree:add(f.path, body(0, 8))
    end,
    [3] = function(body, tree)
        if body:len() ~= 8 then return complain(tree, "A path answer has eight bytes") end
        tree:add(f.path, body(0, 8))
    end,
    [4] = function(body, tree)
        if body:len() < 1 or body:len() > 201 then return complain(tree, "A close has a reason, and a note of at most 200 bytes") end
        show_reason(tree, body(0, 1))
        if body:len() > 1 then tree:add(f.note, body(1)) end
    end,
    [5] = function(body, tree)
        if body:len() == 0 then return complain(tree, "A ticket is a token") end
        tree:add(f.ticket, body(0))
    end,
    [6] = function(body, tree)
        if body:len() ~= 2 then return complain(tree, "A cancel has two bytes") end
        tree:add(f.transfer, body(0, 1))
        tree:add(f.whose, body(1, 1))
    end,
}

local prefixes = { [0] = 0, 0, 0, 2, 2, 4, 4 }

local function show_prefix(kind, flag, prefix, tree)
    if kind == 3 or kind == 4 or kind == 5 then tree:add(f.message_number, prefix(0, 2)) end
    if kind == 5 then
        tree:add(f.fragment_index, prefix(2, 1))
        tree:add(f.fragment_last, prefix(3, 1))
    elseif kind == 6 then
        tree:add(f.transfer, prefix(0, 1))
        tree:add(f.chunk, prefix(1, 3))
        if flag == 1 then
            tree:add(f.transfer_size, prefix(4, 4))
            tree:add(f.chunk_size, prefix(8, 2))
            tree:add(f.transfer_tag, prefix(10, 4))
        end
    end
end

-- show_frame shows the frame at a place. It returns where the next one begins, and what to say of
-- it; nothing if it is not one.
local function show_frame(plain, at, tree)
    local head = plain(at, 1):uint()
    local kind, low = math.floor(head / 16) % 8, head % 16
    local prefix = prefixes[kind]
    if kind == 6 and low == 1 then prefix = 14 elseif kind == 6 and low > 1 then prefix = nil end
    if not prefix then return end
    local body, size = at + 1, nil
    if head >= 128 then
        if plain:len() < at + 2 then return end
        size = plain(at + 1, 1):uint()
        body = at + 2
        if size >= 128 then
            if plain:len() < at + 3 then return end
            size = plain(at + 1, 2):uint() - 32768
            body = at + 3
        end
    else
        size = plain:len() - body - prefix
    end
    local stop = body + prefix + size
    if size < 0 or stop > plain:len() then return end

    local t = tree:add(f.frame, plain(at, stop - at))
    t:add(f.frame_type, plain(at, 1))
    if kind == 0 then t:add(f.control, plain(at, 1)) else t:add(f.channel, plain(at, 1)) end
    if body > at + 1 then t:add(f.length, plain(at + 1, body - at - 1), size) end
    if prefix > 0 then show_prefix(kind, low, plain(body, prefix), t) end
    local text = frames[kind]
    if kind == 0 then
        text = controls[low] or "control " .. low
        if show_control[low] then
            -- An empty range cannot be made, so what is empty only says so.
            show_control[low](size > 0 and plain(body, size) or { len = function() return 0 end }, t)
        else
            complain(t, "There is no such control frame")
        end
    else
        text = string.format("%s %d:%d", text, low, size)
        local field = f.message
        if kind == 5 then field = f.fragment elseif kind == 6 then field = f.chunk_data end
        if size > 0 then t:add(field, plain(body + prefix, size)) end
    end
    t:set_text("Frame: " .. text)
    return stop, text
end

local function show_plain(plain, form, o, tree)
    local at, text = show_ack(plain, form, o, tree)
    if not at then
        complain(tree, "The acknowledgement is cut off")
        return "cut off"
    end
    local said = { text ~= "" and text or nil }
    while at < plain:len() do
        local next_at, what = show_frame(plain, at, tree)
        if not next_at then
            complain(tree, "This is not a frame")
            break
        end
        at = next_at
        said[#said + 1] = what
    end
    return table.concat(said, ", ")
end

local function show_data(tvb, pinfo, tree)
    local id = band(tvb(0, 3):uint(), 0x7ffff)
    tree:add(f.ack_form, tvb(0, 3))
    tree:add(f.key_phase, tvb(0, 3))
    tree:add(f.receiver, tvb(0, 3))
    tree:add(f.low, tvb(3, 2))
    local size = tvb:len() - 17
    local sealed
    if size > 0 then sealed = tree:add(f.sealed, tvb(5, size)) end
    tree:add(f.tag, tvb(tvb:len() - 12, 12))
    local o = open_data(tvb, pinfo)
    if not o then return string.format("for %05x, number …%d", id, tvb(3, 2):uint()), sealed or tree end
    tree:add(f.number, tvb(3, 2), o.number):set_generated()
    tree:add(f.direction, tvb(0, 3), o.to_client and "to the client" or "to the server"):set_generated()
    local info = string.format("%d to %s", o.number, o.to_client and "client" or "server")
    if size == 0 then return info end
    local plain = ByteArray.new(o.plain, true):tvb("Decrypted packet")
    return info .. ": " .. show_plain(plain, math.floor(tvb(0, 1):uint() / 16) % 8, o, tree)
end

----------------------------------------------------------------------------
-- Finding out whether a packet is one of ours.

local function ends(pinfo, id)
    return string.format("%s %d %d", tostring(pinfo.src), pinfo.src_port, id), string.format("%s %d %d", tostring(pinfo.dst), pinfo.dst_port, id)
end

----------------------------------------------------------------------------
-- Datagrams of the multicast among mirrors, which share a socket with connections. What is sealed
-- is not shown: how long the proof before it is depends on the roster.

local multicast = Proto("coeval_multicast", "coeval multicast")

local kinds = {
    [0x40] = "Data", [0x41] = "Control", [0x42] = "Parity", [0x43] = "Repair", [0x44] = "Whisper",
    [0x45] = "Lossy", [0x46] = "Whisper to an authority", [0x47] = "Lines", [0x48] = "Carry",
    [0x49] = "Digests", [0x4a] = "Beacon",
}
local whispers = { [0x44] = true, [0x46] = true, [0x47] = true, [0x48] = true }

local m = {
    kind = ProtoField.uint8("coeval.multicast.kind", "Kind", base.HEX, kinds),
    repairer = ProtoField.uint16("coeval.multicast.repairer", "Repaired by member"),
    epoch = ProtoField.uint8("coeval.multicast.epoch", "Epoch, low bits"),
    group = ProtoField.uint16("coeval.multicast.group", "Tag of the group", base.HEX),
    member = ProtoField.uint16("coeval.multicast.member", "Made by member"),
    number = ProtoField.uint32("coeval.multicast.number", "Number"),
    receiver = ProtoField.uint16("coeval.multicast.receiver", "To member"),
    sealed = ProtoField.bytes("coeval.multicast.sealed", "Sealed"),
    proven = ProtoField.bytes("coeval.multicast.proven", "Proof, and sealed"),
    seal = ProtoField.bytes("coeval.multicast.seal", "Seal"),
}
multicast.fields = m

-- is_multicast says whether a datagram can be one.
local function is_multicast(tvb)
    return tvb:len() >= 22 and kinds[tvb(0, 1):uint()] ~= nil
end

function multicast.dissector(tvb, pinfo, tree)
    if not is_multicast(tvb) then return 0 end
    pinfo.cols.protocol = "coeval"
    local t = tree:add(multicast, tvb())
    local kind, at = tvb(0, 1):uint(), 0
    local info = kinds[kind]
    t:add(m.kind, tvb(0, 1))
    if kind == 0x43 then
        t:add(m.repairer, tvb(1, 2))
        at = 3
        if tvb:len() < at + 22 then return tvb:len() end
        kind = tvb(at, 1):uint()
        t:add(m.kind, tvb(at, 1))
    end
    t:add(m.epoch, tvb(at + 1, 1))
    t:add(m.group, tvb(at + 2, 2))
    t:add(m.member, tvb(at + 4, 2))
    t:add(m.number, tvb(at + 6, 4))
    info = info .. " " .. tvb(at + 6, 4):uint() .. " of member " .. tvb(at + 4, 2):uint()
    local body, what = at + 10, m.proven
    if whispers[kind] and tvb:len() >= at + 24 then
        t:add(m.receiver, tvb(at + 10, 2))
        info = info .. " to member " .. tvb(at + 10, 2):uint()
        body, what = at + 12, m.sealed
    end
    local length = tvb:len() - 12 - body
    if length > 0 then t:add(what, tvb(body, length)) end
    t:add(m.seal, tvb(tvb:len() - 12, 12))
    pinfo.cols.info = info
    t:append_text(", " .. info)
    return tvb:len()
end

DissectorTable.get("udp.port"):add_for_decode_as(multicast)

----------------------------------------------------------------------------
-- Datagrams by which players' machines find paths to each other, which share a socket with
-- connections. What is carried is a datagram of others, and shown as bytes.

local paths = Proto("coeval_paths", "coeval paths")

local path_kinds = { [0x20] = "Probe", [0x21] = "Carry" }

local p = {
    kind = ProtoField.uint8("coeval.paths.kind", "Kind", base.HEX, path_kinds),
    answer = ProtoField.bool("coeval.paths.answer", "Answer", 8, nil, 0x01),
    deaf = ProtoField.bool("coeval.paths.deaf", "Hears nothing of the receiver", 8, nil, 0x02),
    more = ProtoField.uint8("coeval.paths.more", "Members that may still carry it"),
    from = ProtoField.uint16("coeval.paths.from", "From member"),
    to = ProtoField.uint16("coeval.paths.to", "To member"),
    number = ProtoField.uint64("coeval.paths.number", "Number"),
    maker = ProtoField.uint16("coeval.paths.maker", "Made by member"),
    target = ProtoField.uint16("coeval.paths.target", "For member"),
    proof = ProtoField.bytes("coeval.paths.proof", "Proof"),
    carried = ProtoField.bytes("coeval.paths.carried", "Carried datagram"),
}
paths.fields = p

-- is_path says whether a datagram can be one, by its first bytes and its length.
local function is_path(tvb)
    if tvb:len() < 30 then return false end
    local kind, second = tvb(0, 1):uint(), tvb(1, 1):uint()
    return kind == 0x20 and tvb:len() == 30 and second < 3 or kind == 0x21 and tvb:len() > 34 and second < 4
end

function paths.dissector(tvb, pinfo, tree)
    if not is_path(tvb) then return 0 end
    pinfo.cols.protocol = "coeval"
    local t = tree:add(paths, tvb())
    local kind = tvb(0, 1):uint()
    local info = path_kinds[kind]
    t:add(p.kind, tvb(0, 1))
    if kind == 0x20 then
        local flags = tvb(1, 1):uint()
        info = "Ask"
        if flags == 1 then info = "Answer" elseif flags == 2 then info = "Deaf ask" end
        t:add(p.answer, tvb(1, 1))
        t:add(p.deaf, tvb(1, 1))
    else
        t:add(p.more, tvb(1, 1))
    end
    t:add(p.from, tvb(2, 2))
    t:add(p.to, tvb(4, 2))
    t:add(p.number, tvb(6, 8))
    info = info .. " " .. tostring(tvb(6, 8):uint64()) .. " of member " .. tvb(2, 2):uint() .. " to member " .. tvb(4, 2):uint()
    local at = 14
    if kind == 0x21 then
        t:add(p.maker, tvb(14, 2))
        t:add(p.target, tvb(16, 2))
        info = info .. ", from " .. tvb(14, 2):uint() .. " for " .. tvb(16, 2):uint()
        at = 18
    end
    t:add(p.proof, tvb(at, 16))
    if kind == 0x21 then t:add(p.carried, tvb(at + 16)) end
    pinfo.cols.info = info
    t:append_text(", " .. info)
    return tvb:len()
end

DissectorTable.get("udp.port"):add_for_decode_as(paths)

----------------------------------------------------------------------------
-- Datagrams at the door of a player's machine, where others knock: a byte that says which way it
-- goes, and a datagram of a connection.

local door = Proto("coeval_door", "coeval door")

local ways = { [0x60] = "To a door", [0x61] = "From a door" }
local d = { way = ProtoField.uint8("coeval.door.way", "Way", base.HEX, ways) }
door.fields = d

-- at_door gives the datagram behind the byte, if this can be one.
local function at_door(tvb)
    if tvb:len() < 18 or not ways[tvb(0, 1):uint()] then return end
    local inner = tvb(1):tvb()
    if handshake_kind(inner) or inner(0, 1):uint() >= 128 then return inner end
end

function door.dissector(tvb, pinfo, tree)
    local inner = at_door(tvb)
    if not inner then return 0 end
    local t = tree:add(door, tvb(0, 1))
    t:add(d.way, tvb(0, 1))
    local way = ways[tvb(0, 1):uint()]
    t:append_text(", " .. way)
    coeval.dissector(inner, pinfo, tree)
    pinfo.cols.info = way .. ": " .. tostring(pinfo.cols.info)
    return tvb:len()
end

DissectorTable.get("udp.port"):add_for_decode_as(door)

function coeval.dissector(tvb, pinfo, tree)
    if is_multicast(tvb) then return multicast.dissector(tvb, pinfo, tree) end
    if is_path(tvb) then return paths.dissector(tvb, pinfo, tree) end
    if at_door(tvb) then return door.dissector(tvb, pinfo, tree) end
    local kind = handshake_kind(tvb)
    local data = not kind and tvb:len() >= 17 and tvb(0, 1):uint() >= 128
    if not kind and not data then return 0 end
    pinfo.cols.protocol = "coeval"
    local t = tree:add(coeval, tvb())
    local info, locked
    if data then
        t:add(f.type, tvb(0, 1), 128)
        info, locked = show_data(tvb, pinfo, t)
        -- A client whose address changes keeps its identifiers.
        local a, b = ends(pinfo, band(tvb(0, 3):uint(), 0x7ffff))
        known[a], known[b] = true, true
    else
        t:add(f.type, tvb(0, 1))
        t:add(f.version, tvb(1, 1))
        info, locked = handshakes[kind](tvb, pinfo, t)
    end
    local name = types[kind or 128]
    pinfo.cols.info = info and name .. " " .. info or name
    t:append_text(", " .. name)
    if locked then
        local why = "no key fits; name the key log in the preferences of coeval"
        if coeval.prefs.keylog ~= "" then why = "the key log has no key that fits" end
        locked:add(f.no_key, tvb(0, 0), log_error or why):set_generated()
        if log_error then locked:add_proto_expert_info(no_log, log_error) end
    end
    return tvb:len()
end

local function heuristic(tvb, pinfo, tree)
    local packet = at_door(tvb) or tvb
    local ours = handshake_kind(packet) ~= nil
    if not ours and packet:len() >= 17 and packet(0, 1):uint() >= 128 then
        local a, b = ends(pinfo, band(packet(0, 3):uint(), 0x7ffff))
        ours = known[a] or known[b] or open_data(packet, pinfo)
    end
    if not ours then return false end
    pinfo.conversation = coeval
    coeval.dissector(tvb, pinfo, tree)
    return true
end

coeval:register_heuristic("udp", heuristic)
DissectorTable.get("udp.port"):add_for_decode_as(coeval)
